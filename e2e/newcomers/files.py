from runnel_sdk import Runnel, types

runnel = Runnel()
file = runnel.files.upload(b"Lime cake needs limes.", filename="cake.txt", purpose="attachment")
print(file.filename, file.bytes, runnel.files.content(file.id).decode())

agent = runnel.agents.sync("files", instructions="Read.", model="test/echo").agent
message: types.RunInputMessageParam = {
    "role": "user",
    "content": [{"type": "text", "text": "What is in it?"}, {"type": "file", "file_id": file.id}],
}
run = runnel.runs.run(agent, [message])
print(run.status)
runnel.files.delete(file.id)
