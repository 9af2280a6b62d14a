import { expect, test } from "bun:test";
import { takenBy } from "./input-kinds.ts";

const kindsOf = (names: readonly string[]) =>
  names.map((name) => {
    const [provider = "", ...model] = name.split("/");
    const { pdf, page_images } = takenBy(provider, model.join("/"));
    return [name, pdf ? "pdf" : page_images];
  });
const all = (kind: string, ...names: string[]) => expect(kindsOf(names)).toEqual(names.map((name) => [name, kind]));

test("models that are known to see images and read no PDFs are shown the pages of all PDFs", () => {
  all(
    "all",
    "anthropic/claude-3-haiku-20240307",
    "google/gemma-3-27b-it",
    "azure/gpt-4o",
    "azure/o3",
    "azure/my-gpt-4.1-mini",
    "mistral/pixtral-12b-2409",
    "mistral/mistral-small-2503",
    "mistral/mistral-medium-latest",
    "mistral/mistral-large-2512",
    "groq/meta-llama/llama-4-scout-17b-16e-instruct",
    "xai/grok-4",
    "xai/grok-2-vision-1212",
    "ollama/llava:7b",
    "ollama/gemma3:12b",
    "ollama/llama3.2-vision",
    "ollama/qwen2.5vl:7b",
    "ollama/qwen3-vl:8b",
    "ollama/mistral-small3.2",
    "openai_compatible/Qwen/Qwen2.5-VL-7B-Instruct",
    "openai_compatible/OpenGVLab/InternVL3-8B",
    "bedrock/us.meta.llama3-2-90b-instruct-v1:0",
  );
});

test("models that read PDFs get the PDF itself", () => {
  all("pdf", "anthropic/claude-sonnet-4-5", "openai/gpt-5", "google/gemini-2.5-pro", "bedrock/amazon.nova-pro-v1:0");
});

test("models that may see nothing are shown pages only of PDFs without text", () => {
  all(
    "without_text",
    "ollama/llama3.1:8b",
    "ollama/gemma3:1b",
    "ollama/gemma3:270m",
    "ollama/qwen3:8b",
    "openai_compatible/any",
    "openai_compatible/my-vlad-model",
    "azure/my-deployment",
    "mistral/mistral-large-2411",
    "mistral/mistral-small-2501",
    "groq/llama-3.3-70b-versatile",
  );
});

test("models that take no images are shown no pages", () => {
  all("never", "deepseek/deepseek-chat", "xai/grok-3", "azure/gpt-3.5-turbo", "mistral/codestral-latest", "test/echo");
});
