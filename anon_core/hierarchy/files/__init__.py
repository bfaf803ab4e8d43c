"""Hierarchies that people write: lines as ARX has them, or rules ``{a, b} => c``; read, checked and written."""

from anon_core.hierarchy.files.reading import FileFaults, FileFormat, faults_in_file, format_of, levels_in, read_levels

__all__ = ["FileFaults", "FileFormat", "faults_in_file", "format_of", "levels_in", "read_levels"]
