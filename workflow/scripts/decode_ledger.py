"""Rule ``decode_ledger``: what every operation of a decode step reads."""

from pydantic import TypeAdapter

from pipeline import runlog, store
from pipeline.decode.ledger import decode_ledger
from pipeline.decode.workload import Workload

runlog.start(snakemake.log[0])

workload = TypeAdapter(Workload).validate_python(snakemake.params.workload)
store.write(
    decode_ledger(workload, **snakemake.params.settings), snakemake.output[0], snakemake.params
)
