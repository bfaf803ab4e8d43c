"""Proposes a role for each column, with the reason in words; people confirm it in the publication file."""

from anon_core.detection.roles.propose import ProposedRole, propose, propose_from
from anon_core.detection.roles.sampling import sample_of_values
from anon_core.detection.roles.together import propose_all

__all__ = ["ProposedRole", "propose", "propose_all", "propose_from", "sample_of_values"]
