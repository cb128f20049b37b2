"""Find modules that read devices from mappings: `config["device"]`."""

from __future__ import annotations

import re

from xlamig.source.phrases import Phrases

DEVICE_KEYS = "device-keys"
"""The habit of a module that reads entries for a device."""
_KEY = r"""["'](?:\w+_)?(?:device|DEVICE)["']"""
READS_DEVICE_KEYS = Phrases(
    ("device", "DEVICE"), re.compile(rf"""(?<![:,=({{[ ]) ?\[{_KEY}\](?!\s*=[^=])|\b(?:get|pop)\(\s*{_KEY}""")
)
