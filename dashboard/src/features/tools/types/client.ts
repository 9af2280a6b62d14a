import type { ToolPart } from "./tool-part.ts";

export const clientPart: ToolPart = {
  word: "Client",
  hint: "The run waits for your own code to give the output.",
  target: () => "Your own code",
  draftOf: () => ({}),
  read: () => ({}),
  words: {},
  untried: {
    title: "Nothing of a client tool runs here",
    about: "It is your own code. Try an agent that has it in the playground, and answer its calls there.",
  },
};
