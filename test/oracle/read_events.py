"""Reads an event folder with TensorBoard and prints what it lists, as JSON. Usage: read_events.py DIR"""
import json
import sys

from tensorboard.backend.event_processing import data_provider
from tensorboard.backend.event_processing import plugin_event_multiplexer
from tensorboard.context import RequestContext

multiplexer = plugin_event_multiplexer.EventMultiplexer()
multiplexer.AddRunsFromDirectory(sys.argv[1])
multiplexer.Reload()
provider = data_provider.MultiplexerDataProvider(multiplexer, sys.argv[1])
found = {}
for run in multiplexer.Runs():
    tags = {}
    for tag, metadata in multiplexer.AllSummaryMetadata()[run].items():
        tags[tag] = {
            "plugin": metadata.plugin_data.plugin_name,
            "content": metadata.plugin_data.content.decode("utf-8", "replace"),
            "steps": [event.step for event in multiplexer.Tensors(run, tag)],
        }
    found[run] = tags
context = RequestContext()
tensors = provider.list_tensors(context, experiment_id="", plugin_name="monolith")
scalars = provider.list_scalars(context, experiment_id="", plugin_name="scalars")
listing = {
    "tensors": {run: sorted(tags) for run, tags in tensors.items()},
    "scalars": {run: sorted(tags) for run, tags in scalars.items()},
}
print(json.dumps({"runs": found, **listing}))
