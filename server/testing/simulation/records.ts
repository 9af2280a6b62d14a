import type { PromptMessage } from "../../domain/model-call.ts";
import type { AnswerQuestion } from "../../runs/dispatch/pool.ts";
import type { Skills } from "./skills.ts";
import type { World } from "./world.ts";

/** Answers questions about threads, files, memories and skills with data of this world, different each time. */
export function recordsOf(world: World, skills: Skills): AnswerQuestion {
  const text = () => `text${world.int(1000)} `.repeat(1 + world.int(80));

  const history = (): PromptMessage[] =>
    Array.from({ length: world.int(4) }, (): PromptMessage[] => [
      { role: "user", content: text() },
      { role: "assistant", parts: [{ type: "text", text: text() }] },
    ]).flat();

  const documents = (ids: readonly string[]) =>
    ids.map((file_id) => {
      const about = { filename: "notes.txt", mime_type: "text/plain", sha256: "0".repeat(64) };
      return { file_id, ...about, text: text(), image: false, note: null };
    });

  const passages = (memory_id: string) =>
    Array.from({ length: world.int(3) }, (_, chunk_index) => {
      const place = { file_id: null, filename: null, page: null, heading: null, chunk_index };
      return { memory_id, entry_id: `ment_${chunk_index}`, text: text(), score: world.random(), ...place };
    });

  return (_, question) => {
    switch (question.of) {
      case "history":
        return world.wait("the thread is read").then(history);
      case "documents":
        return world.wait("the files are read").then(() => documents(question.file_ids));
      case "search_memory":
        return world.wait("the memory is searched").then(() => ({ matches: passages(question.memory_id) }));
      default:
        return skills.answer(question);
    }
  };
}
