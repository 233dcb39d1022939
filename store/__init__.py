"""What is kept: one SQLite file. Start at store.opening.Store."""

from store.errors import StoreError
from store.opening import Store

__all__ = ["Store", "StoreError"]
