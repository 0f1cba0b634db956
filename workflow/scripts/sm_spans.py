"""Rule ``sm_spans``: what the warps of one SM did in a span of cycles, kernel by kernel."""

from pydantic import TypeAdapter

from pipeline import runlog, store
from pipeline.compiled.twin import Twin
from pipeline.listing_files import read_programs
from pipeline.timing.replay_spans import replay_spans

runlog.start(snakemake.log[0])

gpus, programs = store.read(snakemake.input.gpus), read_programs(snakemake.input.programs)
twins = TypeAdapter(list[Twin]).validate_python(snakemake.params.twins)
spans = replay_spans(programs, twins, gpus, **snakemake.params.settings)
store.write(spans, snakemake.output[0], snakemake.params)
