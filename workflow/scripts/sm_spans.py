"""Rule ``sm_spans``: what the warps of one SM did in a span of cycles, kernel by kernel."""

from pydantic import TypeAdapter

from pipeline import runlog, store
from pipeline.compiled.twin import Twin
from pipeline.hardware.sm_figures import sm_gpus_of
from pipeline.listing_files import read_programs
from pipeline.timing.replay_spans import replay_spans

runlog.start(snakemake.log[0])

params = snakemake.params
gpus = sm_gpus_of(params.sheets)
twins = TypeAdapter(list[Twin]).validate_python(params.twins)
spans = replay_spans(read_programs(snakemake.input), twins, gpus, **params.settings)
store.write(spans, snakemake.output[0], params)
