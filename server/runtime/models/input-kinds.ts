import { memoize } from "../../lib/memoize.ts";

/** Longest PDF that providers take, in pages. */
export const nativePagesMost = 100;

/** Kinds of content that a model takes beside text. */
export interface InputKinds {
  images: boolean;
  /** True if it reads a PDF itself; else it gets the text of the PDF. */
  pdf: boolean;
  /**
   * PDFs whose pages it sees as images: all beside their text, if it is known to see; only those without text, if it may
   * see nothing. A model that reads PDFs itself gets none.
   */
  page_images: "all" | "without_text" | "never";
  audio: boolean;
  /** True if a tool's result may have images; else they follow it in a message of the user. */
  tool_images: boolean;
  /** Most images of one request; the provider refuses more. */
  images_most: number;
  /** Longest side of an image in pixels, and that of each image of a request with more than so many. */
  side_most?: number;
  crowd?: { images: number; side_most: number };
}

const textOnly: InputKinds = {
  images: false,
  pdf: false,
  page_images: "never",
  audio: false,
  tool_images: false,
  images_most: 0,
};
const withImages: InputKinds = { ...textOnly, images: true, page_images: "without_text", images_most: 50 };

/** A family of models, by the beginning or a part of its name. The first that fits counts. */
interface Family extends Partial<InputKinds> {
  name: RegExp;
}

interface ProviderKinds {
  /** Models of no family. Unknown models are sent images: an error of the server is better than a silent answer. */
  others: InputKinds;
  families: Family[];
}

const claude: InputKinds = {
  ...withImages,
  pdf: true,
  tool_images: true,
  images_most: 100,
  side_most: 8000,
  crowd: { images: 20, side_most: 2000 },
};
const claudeFamilies: Family[] = [
  { name: /claude-(v?2(\.\d)?($|:)|instant)/, ...textOnly },
  { name: /claude-3-(opus|sonnet|haiku)/, pdf: false, page_images: "all", images_most: 20 },
];
const gemini: InputKinds = { ...withImages, pdf: true, audio: true, images_most: 100 };
const geminiFamilies: Family[] = [
  // Results with images came with the third generation.
  { name: /gemini-([3-9]|\d\d)/, tool_images: true },
  { name: /gemma-3-1b/, ...textOnly },
  { name: /gemma/, pdf: false, page_images: "all", audio: false },
];
const gpt: InputKinds = { ...withImages, pdf: true, tool_images: true, images_most: 100 };
const gptFamilies: Family[] = [
  { name: /^(gpt-3\.5|gpt-4(-\d{4})?$|gpt-4-32k|o1-mini|o1-preview|o3-mini)/, ...textOnly },
  { name: /^gpt-(audio|4o(-mini)?-audio)/, ...textOnly, audio: true },
];
// A server of one's own may run any model.
const anything: InputKinds = { ...withImages, audio: true };
/** Families of open models that see images, by the names under which servers offer them. */
const seeing: Family[] = [
  {
    name: /vision|llava|pixtral|moondream|minicpm-?v|internvl|(^|[^a-z])(qwen)?[\d.]*-?vl([^a-z]|$)|llama-?4|llama-?3[.-]2-(11|90)b/,
    page_images: "all",
  },
  { name: /gemma-?3n?([^a-z\d]|$)(?!(270m|1b))|mistral-small-?3\.[12]|glm-4\.[15]v/, page_images: "all" },
];

/** By provider, as their documentation says. A provider that is not here has OpenAI's chat completions. */
const kinds: Record<string, ProviderKinds> = {
  anthropic: { others: claude, families: claudeFamilies },
  openai: { others: gpt, families: gptFamilies },
  google: { others: gemini, families: geminiFamilies },
  bedrock: {
    others: { ...withImages, images_most: 20 },
    families: [
      ...claudeFamilies,
      ...seeing,
      { name: /claude/, ...claude, images_most: 20 },
      { name: /nova-micro|titan-text|command|jamba/, ...textOnly },
      { name: /nova/, pdf: true },
    ],
  },
  vertex: {
    others: withImages,
    families: [...claudeFamilies, { name: /claude/, ...claude }, ...geminiFamilies, { name: /gemini/, ...gemini }],
  },
  azure: {
    others: { ...withImages, audio: true },
    families: [...gptFamilies, { name: /gpt-?(4o|4\.[15]|4-turbo|[5-9])|^o[134]($|-)/, page_images: "all" }],
  },
  mistral: {
    others: { ...withImages, images_most: 8 },
    families: [
      { name: /voxtral/, ...textOnly, audio: true },
      { name: /codestral|devstral-small-2505|^open-m/, ...textOnly },
      { name: /pixtral|mistral-(small|medium|large)-(latest|250[3-9]|251\d|2[6-9]\d\d)/, page_images: "all" },
    ],
  },
  groq: { others: { ...withImages, images_most: 5 }, families: seeing },
  deepseek: { others: textOnly, families: [] },
  xai: {
    others: { ...withImages, images_most: 20 },
    families: [
      { name: /^grok-(2(?!-vision)|3|beta|code)/, ...textOnly },
      { name: /^grok-(2-vision|[4-9])/, page_images: "all" },
    ],
  },
  openrouter: { others: { ...anything, pdf: true }, families: [] },
  ollama: { others: withImages, families: seeing },
  // Test models have only eyes for text: they get the text of a PDF.
  test: { others: { ...anything, page_images: "never", tool_images: true }, families: [] },
};

/** Returns what a model takes, by the provider of its connection and its name there. */
export const takenBy = (provider: string, model: string): InputKinds => kindsOf(`${provider}/${model}`);

// Each call of a model asks for its kinds, and the names of open models are looked for by slow patterns.
const kindsOf = memoize((id): InputKinds => {
  const provider = id.slice(0, id.indexOf("/"));
  const model = id.slice(provider.length + 1);
  const { others, families } = kinds[provider] ?? { others: anything, families: seeing };
  const { name: _, ...own } = families.find(({ name }) => name.test(model.toLowerCase())) ?? {};
  return { ...others, ...own };
});
