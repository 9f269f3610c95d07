"""The browsers in which pages are tested."""

from chromium import Chromium
from firefox import Firefox

BROWSERS = {"chromium": Chromium, "firefox": Firefox}
