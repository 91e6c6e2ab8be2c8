# What we use of ada-url's native module, which has no types of its own.
from typing import Any

ffi: Any
lib: Any
