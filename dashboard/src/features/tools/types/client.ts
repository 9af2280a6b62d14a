import type { ToolPart } from "./tool-part.ts";

export const part: ToolPart = {
  hint: "The run waits until your own code submits the output.",
  target: () => "Your own code",
  draftOf: () => ({}),
  read: () => ({}),
  words: {},
  testUnavailable: {
    title: "Client tools do not run on this server",
    about: "It is your own code. Try an agent that uses it in the playground, and submit the outputs there.",
  },
};
