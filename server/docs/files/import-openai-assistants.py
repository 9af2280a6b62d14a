"""Imports assistants, threads and messages of OpenAI's Assistants API into runnel.

    python3 import-openai-assistants.py EXPORT... [--model MODEL]

EXPORT is a file of JSON or JSON lines, or a folder of them, with objects as OpenAI's API returned them: assistants,
threads and messages, alone, in lists (``{"object": "list", "data": [...]}``), or within other objects.

It needs ``pip install`` of the runnel client, RUNNEL_URL, and RUNNEL_API_KEY with the scope ``admin``. It is safe to run
again: agents and threads keep the old id as ``metadata.openai_id``, and what is there is left as it is.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from runnel_sdk import APIError, Runnel, RunnelError

REASONING_EFFORTS = {"none", "minimal", "low", "medium", "high"}
MOST_PAIRS = 16  # of metadata
MOST_CHARACTERS = 128  # of a name


class Import:
    def __init__(self, runnel, model=None):
        self.runnel = runnel
        self.model = model
        self.counts = Counter()
        self.left_behind = []
        self.failures = []

    def run(self, objects):
        """Takes all objects of an export."""
        kinds = {"assistant": {}, "thread": {}, "thread.message": {}}
        others = Counter()
        for one in objects:
            if one["object"] in kinds:
                kinds[one["object"]][one["id"]] = one
            else:
                others[one["object"]] += 1
        for kind, count in others.items():
            self.left_behind.append(f"{count} × {kind}")

        for assistant in kinds["assistant"].values():
            self.attempt(assistant["id"], lambda: self.take_assistant(assistant))
        messages = {}
        for message in kinds["thread.message"].values():
            messages.setdefault(message["thread_id"], []).append(message)
        for thread_id in [*kinds["thread"], *(one for one in messages if one not in kinds["thread"])]:
            thread = kinds["thread"].get(thread_id, {"id": thread_id})
            self.attempt(thread_id, lambda: self.take_thread(thread, in_order(messages.get(thread_id, []))))

    def attempt(self, id, take):
        try:
            take()
        except APIError as error:
            self.failures.append(f"{id}: {error}")

    def take_assistant(self, assistant):
        if self.found(self.runnel.agents, assistant["id"], "agents"):
            return
        leave = self.leaver(assistant["id"])
        name = assistant.get("name") or assistant["id"]
        if len(name) > MOST_CHARACTERS:
            leave(f"the name's end, after {MOST_CHARACTERS} characters")
        settings, output_schema = self.settings_of(assistant, leave)
        agent = self.runnel.agents.create(
            name=name[:MOST_CHARACTERS],
            description=assistant.get("description"),
            instructions=assistant.get("instructions") or "You are a helpful assistant.",
            model=self.model or f"openai/{assistant['model']}",
            model_settings=settings,
            output_schema=output_schema,
            tools=self.tools_of(assistant, leave),
            metadata=self.metadata_of(assistant, leave),
        )
        self.counts["agents created"] += 1
        print(f"{assistant['id']} → {agent.id}  {agent.name}")

    def settings_of(self, assistant, leave):
        """The agent's model settings and output schema."""
        settings = {}
        if assistant.get("temperature") is not None:
            settings["temperature"] = assistant["temperature"]
        if assistant.get("top_p") not in (None, 1, 1.0):
            leave("top_p")
        effort = assistant.get("reasoning_effort")
        if effort in REASONING_EFFORTS:
            settings["reasoning_effort"] = effort
        elif effort:
            leave(f"reasoning_effort {effort}")
        format = assistant.get("response_format")
        kind = format.get("type") if isinstance(format, dict) else format
        if kind == "json_schema":
            return settings, format["json_schema"]["schema"]
        if kind == "json_object":
            leave("response_format json_object: give the agent an output_schema")
        return settings, None

    def tools_of(self, assistant, leave):
        """The ids of the agent's tools; those that are not there yet are created."""
        ids = []
        for tool in assistant.get("tools") or []:
            if tool["type"] == "function":
                function = tool["function"]
                parameters = function.get("parameters") or {"type": "object", "properties": {}}
                description = function.get("description") or ""
                wanted = {"type": "client", "description": description, "parameters": parameters}
                ids.append(self.tool(function["name"], wanted, leave))
            elif tool["type"] == "code_interpreter":
                ids.append(self.tool("code_interpreter", {"type": "code", "language": "python"}, leave))
            else:
                leave(f"{tool['type']}: put the documents into a memory store")
        for kind, resources in (assistant.get("tool_resources") or {}).items():
            if any((resources or {}).values()):
                leave(f"the files of {kind}: upload them again")
        return ids

    def tool(self, name, wanted, leave):
        """The id of the tool of this name that is as wanted. Another one of the name makes it `name_2`."""
        there = {one.name: one for one in self.runnel.tools.list(limit=100)}
        free = name
        number = 1
        while free in there:
            if same(there[free], wanted):
                return there[free].id
            number += 1
            free = f"{name[:60]}_{number}"
        if free != name:
            leave(f"the name of the tool {name}, which another one has: it is {free}")
        self.counts["tools created"] += 1
        return self.runnel.tools.create(name=free, **wanted).id

    def take_thread(self, thread, messages):
        known = self.found(self.runnel.threads, thread["id"], "threads")
        if known and known.metadata.get("openai_import") == "complete":
            return
        leave = self.leaver(thread["id"])
        texts = [(message["role"], self.text_of(message, leave)) for message in messages]
        texts = [(role, text) for role, text in texts if text.strip()]
        if any((thread.get("tool_resources") or {}).values()):
            leave("the files of the thread: upload them again")
        metadata = self.metadata_of(thread, leave, {"openai_import": "begun"})
        new = known or self.runnel.threads.create(metadata=metadata)
        # One that broke off goes on behind the messages that it has.
        there = sum(1 for _ in self.runnel.threads.messages.list(new.id, limit=100)) if known else 0
        for role, text in texts[there:]:
            self.runnel.threads.messages.create(new.id, role=role, content=text)
            self.counts["messages created"] += 1
        self.runnel.threads.update(new.id, metadata={**new.metadata, "openai_import": "complete"})
        if not known:
            self.counts["threads created"] += 1
        print(f"{thread['id']} → {new.id}  {len(texts)} messages")

    def text_of(self, message, leave):
        """What a message says. Pictures and files have no place in a thread."""
        texts = []
        for part in message.get("content") or []:
            if part["type"] == "text":
                texts.append(part["text"]["value"])
                if part["text"].get("annotations"):
                    leave(f"the citations of {message['id']}")
            elif part["type"] == "refusal":
                texts.append(part["refusal"])
            else:
                leave(f"{part['type']} of {message['id']}")
        if message.get("attachments"):
            leave(f"the attachments of {message['id']}")
        return "\n\n".join(texts)

    def found(self, resource, id, kind):
        """The object that an import before this one made, or None."""
        known = next(iter(resource.list(metadata={"openai_id": id})), None)
        if known:
            self.counts[f"{kind} already there"] += 1
        return known

    def metadata_of(self, one, leave, more=None):
        own = {"openai_id": one["id"], **(more or {})}
        pairs = [(key, str(value)) for key, value in (one.get("metadata") or {}).items()]
        room = MOST_PAIRS - len(own)
        for key, _ in pairs[room:]:
            leave(f"metadata {key}: there is room for {MOST_PAIRS} pairs")
        return {**dict(pairs[:room]), **own}

    def leaver(self, id):
        return lambda what: self.left_behind.append(f"{id}: {what}")


def same(tool, wanted):
    return all(tool.get(field) == value for field, value in wanted.items())


def in_order(messages):
    """The oldest first. OpenAI lists the newest first, and counts in seconds."""
    if messages and messages[0]["created_at"] > messages[-1]["created_at"]:
        messages = messages[::-1]
    return sorted(messages, key=lambda message: message["created_at"])


def objects_in(value):
    """All objects of OpenAI's within a value: of lists, and of objects that are none themselves."""
    if isinstance(value, list):
        for one in value:
            yield from objects_in(one)
    elif isinstance(value, dict):
        if isinstance(value.get("object"), str) and value["object"] != "list":
            yield value
        else:
            for one in value.values():
                yield from objects_in(one)


def read(path):
    """All objects in a file, or in the files of a folder."""
    if path.is_dir():
        for file in sorted([*path.rglob("*.json"), *path.rglob("*.jsonl")]):
            yield from read(file)
    elif path.suffix == ".jsonl":
        for line in path.read_text(encoding="utf-8").splitlines():
            yield from objects_in(json.loads(line) if line.strip() else None)
    else:
        yield from objects_in(json.loads(path.read_text(encoding="utf-8")))


def main():
    parser = argparse.ArgumentParser(description="Imports assistants, threads and messages into runnel.")
    parser.add_argument("export", nargs="+", type=Path, help="a file of JSON or JSON lines, or a folder of them")
    parser.add_argument("--model", help="the model of all agents, such as ollama/qwen3; otherwise openai/<its model>")
    options = parser.parse_args()

    try:
        objects = [one for path in options.export for one in read(path)]
        work = Import(Runnel(max_retries=10), options.model)  # A long import meets the rate limit, and waits.
        work.run(objects)
    except (OSError, ValueError, RunnelError) as error:
        sys.exit(str(error))

    for what, count in sorted(work.counts.items()):
        print(f"{what}: {count}")
    if work.left_behind:
        print("\nNot carried over:")
        print("\n".join(f"- {line}" for line in work.left_behind))
    if work.failures:
        print("\nFailed:", *work.failures, sep="\n- ", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
