"""The worked example of Gong et al. 2020."""

from __future__ import annotations

from tests.properties.tables import Row

NAMES = ["MINum", "Sex", "Age", "Zip Code", "Birthday", "Disease"]

TABLE_1: list[Row] = [
    ("EN569244", "Female", "19", "721001", "1230", "Fever"),
    ("EF863453", "Male", "23", "121000", "0422", "Pneumonia"),
    ("EX756421", "Female", "56", "831100", "0719", "Fever"),
    ("EA556754", "Female", "14", "201100", "0926", "Appendicitis"),
    ("EP974423", "Male", "23", "012000", "1111", "Leukemia"),
    ("EN540305", "Female", "67", "831100", "1230", "Fever"),
    ("EY775612", "Male", "19", "721001", "0717", "Leukemia"),
]
