"""Rule ``own_cuda_replay``: replay one compiled kernel of the user's own on one SM of its GPUs."""

from functools import partial

from pipeline import runlog, store
from pipeline.counting.own_cuda import launch_without_contents, read_own
from pipeline.hardware.sm_figures import sm_gpus_of
from pipeline.listing_files import compiled
from pipeline.timing.replay_launch import replay_launch

runlog.start(snakemake.log[0])

params = snakemake.params
own, arch = read_own(params.kernel), params.settings["architecture"]
program, launch = (
    partial(compiled, own.file, arch, own.entry),
    partial(launch_without_contents, own),
)
found = replay_launch(own.id, arch, program, launch, sm_gpus_of(params.sheets))
list(map(partial(store.write, made_by=params), found, snakemake.output))
