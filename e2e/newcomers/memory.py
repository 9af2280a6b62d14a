import json
import time

from runnel_sdk import Runnel

runnel = Runnel()
notes = runnel.memory.create(name="Notes", kind="vector")
entry = runnel.memory.entries.create(notes.id, text="Lime cake needs limes.", metadata={"source": "book"})
while entry.status == "processing":
    time.sleep(0.05)
    entry = runnel.memory.entries.retrieve(notes.id, entry.id)
found = runnel.memory.search(notes.id, query="limes", mode="keyword", top_k=1)
print(found.data[0].text)

facts = runnel.memory.create(name="Facts", kind="kv")
runnel.memory.keys.set(facts.id, "language", value={"code": "no"})
print(json.dumps(runnel.memory.keys.retrieve(facts.id, "language").value, separators=(",", ":")))
runnel.memory.delete(notes.id)
runnel.memory.delete(facts.id)
