"""Every store that artifacts need, as the fixtures make it: name -> function."""

from tests.artifacts import (
    fixtures,
    fixtures_compiled,
    fixtures_decode,
    fixtures_megakernel,
    fixtures_order,
    fixtures_sm,
    fixtures_sweeps,
)

STORES = (
    fixtures.STORES
    | fixtures_compiled.STORES
    | fixtures_decode.STORES
    | fixtures_megakernel.STORES
    | fixtures_order.STORES
    | fixtures_sm.STORES
    | fixtures_sweeps.STORES
)
