"""The site policy: limits for all publication files of a site, written by the data protection officer."""

from anon_core.site.floors import smallest_table, undercuts
from anon_core.site.policy import BUILT_IN, SitePolicy, load_site_policy
from anon_core.site.raising import RaisedLimit, raised_limits

__all__ = [
    "BUILT_IN",
    "RaisedLimit",
    "SitePolicy",
    "load_site_policy",
    "raised_limits",
    "smallest_table",
    "undercuts",
]
