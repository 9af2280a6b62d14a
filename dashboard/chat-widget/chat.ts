import type { RunFrame } from "../../server/domain/api-types/events.ts";
import {
  emptyRunView,
  foldFrames,
  type Part,
  type RunView,
  type ToolPart,
  withoutHandoffCalls,
} from "../../server/domain/api-types/run-view.ts";
import { visibleText } from "../src/lib/visible-text.ts";
import {
  type Answerable,
  ChatError,
  createServer,
  describeEnd,
  describeError,
  type PendingCall,
  type PendingConsent,
  type ThreadMessage,
} from "./conversation.ts";
import { type Document, documentTypes, mostDocuments, mostGiven, readDocuments } from "./documents.ts";
import { type Feedback, feedbackNode } from "./feedback.ts";
import { addressOf, mostPictures, type Picture, pictureTypes, readPictures } from "./images.ts";
import { make, makeButton } from "./make.ts";
import { type Node as Piece, parseMarkdown } from "./markdown.ts";
import { questionNode } from "./question.ts";
import { styles } from "./styles.ts";

/** Client tools of the page, by name. An error that a tool throws becomes its output, so that the agent can react. */
type PageTools = Record<string, (args: unknown) => unknown>;

/** Image of a message: a `data:` URL, or the id of a file on the server. */
type ImageSource = { data: string } | { id: string };

interface Turn {
  user: string;
  pictures: ImageSource[];
  /** Names of the documents sent with the message. */
  documents: string[];
  runId: string | null;
  view: RunView;
  /** Error of the chat itself, which the run does not report. */
  error: string | null;
  feedback: Feedback | null;
  /** Id of the person's feedback score; null if none is stored. */
  scoreId: string | null;
  /** Id of the last event received; the stream resumes after it. */
  last: string | null;
  /** Calls that the run waits for, including those of subagents. */
  pendingCalls: readonly PendingCall[];
  consents: readonly PendingConsent[];
  /** True if reading stopped before the run ended. */
  isCut: boolean;
  /** True if the run is to be cancelled as soon as its id is known. */
  isUnwanted: boolean;
}

type Frames = AsyncGenerator<RunFrame & { id: string | undefined }>;

/** Milliseconds that the page has to provide a new token. One that comes later is used too. */
const patience_ms = 3000;

interface StoredThread {
  thread: string;
}

// The script's origin is the server, unless the element names another.
const home = document.currentScript instanceof HTMLScriptElement ? new URL(document.currentScript.src).origin : "";

const sheet = new CSSStyleSheet();
sheet.replaceSync(styles);

/**
 * A chat with one agent: `<runnel-chat agent="agt_…" token="ct_…">`. `token-url` is an address of the page's own server
 * that returns `{"token": "…"}`: the element calls it if it has no token, and when its token expires.
 */
export class RunnelChat extends HTMLElement {
  /** Client tools that this page implements. */
  tools: PageTools = {};

  static observedAttributes = ["theme", "heading", "placeholder", "token", "images", "files"];

  readonly #root = this.attachShadow({ mode: "open", delegatesFocus: true });
  readonly #head = make("header");
  readonly #log = make("div", "log");
  readonly #status = make("div", "status");
  readonly #input = make("textarea");
  readonly #send = make("button", "main", "Send");
  readonly #picker = make("input");
  readonly #add = make("button", "add", "Add image");
  readonly #chosen = make("ul", "chosen");
  readonly #scheme = matchMedia("(prefers-color-scheme: dark)");
  readonly #turns: Turn[] = [];
  /** DOM node of each turn, and of each part the state that was last drawn. */
  readonly #shown = new Map<Turn, { node: HTMLElement; parts: Map<string, { part: unknown; node: HTMLElement }> }>();
  readonly #answered = new Set<string>();
  #pictures: Picture[] = [];
  #documents: Document[] = [];
  /** Ids of all documents of the conversation, oldest first. */
  #given: string[] = [];
  #thread: string | null = null;
  #token = "";
  #renewing: Promise<boolean> | null = null;
  #onToken: () => void = () => {};
  /** Resolves when the thread's earlier messages are loaded. */
  #opened: Promise<void> = Promise.resolve();
  /** Aborted while the element is not attached to a document. */
  #left = new AbortController();
  #isBusy = false;
  #isLost = false;
  #isAsked = false;
  /** Message to the person about the files they added. */
  #hint: string | null = null;

  readonly #server = createServer({
    url: () => this.getAttribute("server")?.replace(/\/$/, "") ?? home,
    token: () => this.#token || (this.getAttribute("token") ?? ""),
    renew: () => (this.#renewing ??= this.#renew().finally(() => (this.#renewing = null))),
    onConnection: (isLost) => {
      this.#isLost = isLost;
      this.#draw();
    },
    signal: () => this.#left.signal,
  });

  connectedCallback(): void {
    this.#scheme.addEventListener("change", this.#dress);
    if (this.#root.childElementCount === 0) this.#build();
    this.#dress();
    this.#draw();
    if (this.#left.signal.aborted) {
      this.#left = new AbortController();
      this.#goOn();
    }
  }

  #build(): void {
    this.#root.adoptedStyleSheets = [sheet];
    const form = make("form");
    const label = make("label", "sr", "Your message");
    this.#input.id = "message";
    this.#input.rows = 1;
    label.htmlFor = "message";
    this.#add.type = "button";
    this.#add.addEventListener("click", () => this.#picker.click());
    Object.assign(this.#picker, { type: "file", multiple: true, hidden: true });
    this.#picker.addEventListener("change", () => {
      void this.#take(this.#picker.files ?? []);
      this.#picker.value = ""; // Lets the person choose the same file again.
    });
    form.append(label, this.#picker, this.#add, this.#input, this.#send);
    this.#log.tabIndex = 0;
    this.#log.setAttribute("role", "region");
    this.#log.setAttribute("aria-label", "Conversation");
    this.#status.setAttribute("role", "status");
    this.#chosen.setAttribute("aria-label", "Added files");
    this.#root.append(this.#head, this.#log, this.#status, this.#chosen, form);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.#canSteer) void this.#steer(this.#turns.at(-1)!);
      else if (this.#isBusy) void this.#stop(this.#turns.at(-1)!);
      else void this.#say();
    });
    this.#input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      if (!this.#isBusy || this.#canSteer) form.requestSubmit();
    });
    this.#input.addEventListener("input", () => this.#draw());
    this.#input.addEventListener("paste", ({ clipboardData }) => void this.#take(clipboardData?.files ?? []));
    this.addEventListener("dragover", (event) => this.#takes !== null && event.preventDefault());
    this.addEventListener("drop", (event) => {
      if (this.#takes === null) return;
      event.preventDefault();
      void this.#take(event.dataTransfer?.files ?? []);
    });
    this.#opened = this.#resume();
  }

  disconnectedCallback(): void {
    this.#scheme.removeEventListener("change", this.#dress);
    // An element that only moved is connected again by then.
    queueMicrotask(() => {
      if (!this.isConnected) this.#left.abort();
    });
  }

  /** Resumes reading the last run if it was cut off. */
  #goOn(): void {
    const turn = this.#turns.at(-1);
    if (this.#isBusy || !turn?.isCut || turn.runId === null) return;
    const { runId, last } = turn;
    void this.#work(turn, () => this.#server.follow(runId, null, last));
  }

  attributeChangedCallback(name: string): void {
    this.#dress();
    if (name !== "token") return;
    this.#token = "";
    this.#onToken();
    this.#goOn();
  }

  readonly #dress = (): void => {
    const theme = this.getAttribute("theme");
    this.toggleAttribute("data-dark", theme === "dark" || (theme !== "light" && this.#scheme.matches));
    this.#head.textContent = visibleText(this.getAttribute("heading") ?? "");
    this.#add.hidden = this.#takes === null;
    this.#add.textContent = this.#takes === "files" ? "Add file" : "Add image";
    this.#picker.accept = [...pictureTypes, ...(this.#takes === "files" ? documentTypes : [])].join();
    this.#input.placeholder = this.getAttribute("placeholder") ?? "Write a message";
  };

  /** Kinds of files that a person may add: documents and images, images only, or none. */
  get #takes(): "files" | "images" | null {
    return this.hasAttribute("files") ? "files" : this.hasAttribute("images") ? "images" : null;
  }

  async #take(files: Iterable<File>): Promise<void> {
    const all = [...files];
    if (this.#takes === null || all.length === 0) return;
    const [images, others] = [true, false].map((isImage) =>
      all.filter(({ type }) => pictureTypes.includes(type) === isImage),
    );
    const loadedPictures = await readPictures(images!);
    const { taken, refused } = this.#takes === "files" ? readDocuments(others!) : { taken: [], refused: null };
    const [pictures, documents] = [
      [...this.#pictures, ...loadedPictures],
      [...this.#documents, ...taken],
    ];
    this.#pictures = pictures.slice(0, mostPictures);
    this.#documents = documents.slice(0, mostDocuments);
    this.#hint = refused;
    if (this.#takes === "images" && loadedPictures.length < all.length)
      this.#hint = "Only images can be sent: PNG, JPEG, WebP or GIF, at most four.";
    else if (pictures.length > mostPictures || documents.length > mostDocuments)
      this.#hint = `A message has at most ${mostPictures} images and ${mostDocuments} documents.`;
    this.#showChosen();
    this.#draw();
  }

  #showChosen(): void {
    const itemOf = (node: HTMLElement, name: string, forget: () => void) => {
      const item = make("li");
      const remove = makeButton("Remove", "", () => {
        forget();
        this.#showChosen();
        this.#draw();
        this.#input.focus();
      });
      remove.setAttribute("aria-label", visibleText(`Remove ${name}`));
      item.append(node, remove);
      return item;
    };
    this.#chosen.replaceChildren(
      ...this.#pictures.map((picture, index) =>
        itemOf(pictureNode(picture.data), picture.name || `image ${index + 1}`, () => {
          this.#pictures = this.#pictures.filter((one) => one !== picture);
        }),
      ),
      ...this.#documents.map((document) =>
        itemOf(make("span", "document", document.name), document.name, () => {
          this.#documents = this.#documents.filter((one) => one !== document);
        }),
      ),
    );
  }

  /** Fetches a token from `token-url`. Without one, notifies the page, which sets the attribute `token`. */
  async #renew(): Promise<boolean> {
    const address = this.getAttribute("token-url");
    if (address === null) return await this.#isGiven();
    const response = await fetch(address, { method: "POST", credentials: "same-origin" }).catch(() => null);
    const payload = response?.ok ? await response.json().catch(() => null) : null;
    if (typeof payload?.token !== "string") return false;
    this.#token = payload.token;
    return true;
  }

  #isGiven(): Promise<boolean> {
    return new Promise((resolve) => {
      const late = setTimeout(() => resolve(false), patience_ms);
      this.#onToken = () => {
        clearTimeout(late);
        resolve(true);
      };
      this.dispatchEvent(new CustomEvent("token-expired", { bubbles: true, composed: true }));
    });
  }

  get #agent(): string {
    return this.getAttribute("agent") ?? "";
  }

  get #place(): string {
    return `runnel-chat:${this.#agent}`;
  }

  /** Resumes the thread of this tab and its unfinished run. */
  async #resume(): Promise<void> {
    const threadAttribute = this.getAttribute("thread");
    if (threadAttribute === "new") return removeThread(this.#place);
    const thread = threadAttribute ?? readThread(this.#place)?.thread ?? null;
    if (thread === null) return;
    this.#thread = thread;
    try {
      const [{ status, last_run_id }, storedMessages, scores] = await Promise.all([
        this.#server.thread(thread),
        this.#server.messages(thread),
        this.hasAttribute("feedback") ? this.#server.scores(thread) : [],
      ]);
      for (const message of storedMessages) this.#recall(message);
      for (const { run_id, id, value, comment } of scores)
        for (const turn of this.#turns.filter(({ runId }) => runId === run_id))
          Object.assign(turn, {
            scoreId: id,
            feedback: { value: value >= 0.5 ? "good" : "bad", comment: comment ?? "" } satisfies Feedback,
          });
      const isOver =
        last_run_id === null || status === "idle" || this.#turns.some(({ runId }) => runId === last_run_id);
      if (isOver) return this.#draw();
      const { input, file_ids = [] } = await this.#server.run(last_run_id);
      const { text, pictures } = readInput(input);
      const documents = this.#remember(file_ids.map((id) => ({ file_id: id, filename: "Document" })));
      const turn = this.#begin(text, last_run_id, pictures, documents);
      void this.#work(turn, () => this.#server.follow(last_run_id, null, null));
    } catch (error) {
      if (error instanceof ChatError && error.status === 404) {
        removeThread(this.#place); // The thread was deleted or belongs to another person: start a new one.
        this.#thread = threadAttribute;
      } else this.#hint = describeError(error); // The thread exists and continues with the next message.
      this.#isLost = false;
      this.#draw();
    }
  }

  /** Shows an earlier message of the thread. */
  #recall({ role, content, run_id, images = [], files = [] }: ThreadMessage): void {
    if (role === "user") {
      const pictures = images.map(({ file_id }) => ({ id: file_id }));
      const names = this.#remember(files);
      this.#begin(content === names.join(", ") ? "" : content, run_id, pictures, names);
    }
    const turn = this.#turns.at(-1);
    if (role !== "assistant" || !turn) return;
    const part: Part = {
      kind: "text",
      key: `said-${turn.view.parts.length}`,
      seq: 0,
      stepIndex: 0,
      output: content,
      reasoning: "",
      state: "done",
    };
    turn.view = { ...turn.view, status: "completed", parts: [...turn.view.parts, part] };
  }

  /** Records documents of the conversation and returns the names of the new ones. Each message lists all documents. */
  #remember(files: readonly { file_id: string; filename: string }[]): string[] {
    const fresh = files.filter(({ file_id }) => !this.#given.includes(file_id));
    this.#given.push(...fresh.map(({ file_id }) => file_id));
    return fresh.map(({ filename }) => filename);
  }

  #begin(user: string, runId: string | null, pictures: ImageSource[] = [], documents: string[] = []): Turn {
    const turn: Turn = {
      user,
      pictures,
      documents,
      runId,
      view: emptyRunView,
      error: null,
      feedback: null,
      scoreId: null,
      last: null,
      pendingCalls: [],
      consents: [],
      isCut: false,
      isUnwanted: false,
    };
    this.#turns.push(turn);
    return turn;
  }

  async #say(): Promise<void> {
    await this.#opened;
    if (this.#isBusy) return;
    const text = this.#input.value.trim();
    const [pictures, documents] = [this.#pictures, this.#documents];
    if (text === "" && pictures.length === 0 && documents.length === 0) return;
    this.#input.value = "";
    [this.#pictures, this.#documents] = [[], []];
    this.#hint = null;
    this.#showChosen();
    const inputImages = pictures.map(({ data }) => ({ data }));
    const names = documents.map(({ name }) => name);
    const turn = this.#begin(text, null, inputImages, names);
    this.#draw();
    this.#log.scrollTop = this.#log.scrollHeight;
    await this.#work(turn, async () => {
      this.#thread ??= await this.#newThread();
      for (const document of documents) document.id ??= await this.#server.upload(document.file);
      const fileIds = documents.map(({ id }) => id!);
      const start = (earlier: readonly string[]) => {
        const file_ids = [...earlier, ...fileIds].slice(-mostGiven);
        return this.#server.start({
          agent_id: this.#agent,
          input: inputOf(text || (pictures.length > 0 ? "" : names.join(", ")), pictures),
          ...(file_ids.length > 0 && { file_ids }),
          // Another page of the same person may be waiting for its answer.
          ...(this.#thread && { thread_id: this.#thread, if_thread_busy: "queue" }),
        });
      };
      const startResponse = await start(this.#given).catch((error) => {
        if (!(error instanceof ChatError && error.param?.startsWith("file_ids") && this.#given.length > 0)) throw error;
        this.#given = []; // A document was deleted: continue without documents.
        return start([]);
      });
      this.#given.push(...fileIds);
      return this.#server.follow(null, startResponse, null);
    });
    const isEmpty = this.#input.value === "" && this.#pictures.length === 0 && this.#documents.length === 0;
    if (turn.runId === null && turn.error && isEmpty) {
      this.#input.value = text; // The server did not accept the message: put it back, so that it can be sent again.
      [this.#pictures, this.#documents] = [pictures, documents];
      this.#showChosen();
    }
    this.#draw();
  }

  /** Returns null for a token that is bound to a thread and may not create one. */
  async #newThread(): Promise<string | null> {
    const thread = await this.#server.createThread().catch((error) => {
      if (error.code === "insufficient_scope") return null;
      throw error;
    });
    if (thread) storeThread(this.#place, { thread: thread.id });
    return thread?.id ?? null;
  }

  async #work(turn: Turn, open: () => Frames | Promise<Frames>): Promise<void> {
    const { signal } = this.#left;
    this.#isBusy = true;
    turn.error = null;
    this.#draw();
    try {
      for await (const frame of await open()) {
        turn.runId ??= frame.data.run_id;
        turn.last = frame.id ?? turn.last;
        turn.view = foldFrames(turn.view, [frame]);
        if (frame.event === "run.requires_action") void this.#answer(turn);
        else if (turn.view.status !== "requires_action") [turn.pendingCalls, turn.consents] = [[], []];
        if (turn.isUnwanted) void this.#stop(turn);
        this.#draw();
      }
    } catch (error) {
      turn.error = describeError(error);
      // An unexpected error is a bug of this script: log it for its author.
      if (!(error instanceof ChatError)) console.error(error);
    }
    turn.isCut = !["completed", "failed", "cancelled"].includes(turn.view.status ?? "");
    this.#isBusy = false;
    this.#isLost = false;
    this.#draw();
    // The element was attached again before this ended.
    if (signal.aborted && signal !== this.#left.signal) this.#goOn();
  }

  /** Answers the calls of the page's tools. All other calls wait for a person. */
  async #answer(turn: Turn): Promise<void> {
    const runId = turn.runId!;
    // Read the run's current state: an event that a reload replays may be answered already, and no tool may run twice.
    const run = await this.#server.run(runId).catch((error) => this.#fail(runId, error));
    if (turn.view.status !== "requires_action") return; // The next request for action has an event of its own.
    turn.pendingCalls = run?.required_action?.submit_tool_outputs.tool_calls ?? [];
    turn.consents = run?.required_action?.authorizations ?? [];
    this.#draw();
    const calls = turn.pendingCalls.filter(
      ({ tool_call_id, name, needs }) =>
        needs === "output" && Object.hasOwn(this.tools, name) && !this.#answered.has(tool_call_id),
    );
    for (const { tool_call_id } of calls) this.#answered.add(tool_call_id);
    const outputs = await Promise.all(
      calls.map(async ({ tool_call_id, name, arguments: args }) => {
        try {
          const plain: unknown = JSON.parse(JSON.stringify(args)); // The page gets plain JavaScript numbers.
          return { tool_call_id, output: (await this.tools[name]!(plain)) ?? null };
        } catch (error) {
          return { tool_call_id, output: String(error), is_error: true };
        }
      }),
    );
    if (outputs.length > 0) await this.#server.submit(runId, outputs).catch((error) => this.#fail(runId, error));
  }

  async #decide(turn: Turn, id: string, decision: "approve" | "reject"): Promise<void> {
    if (this.#answered.has(id)) return;
    this.#answered.add(id);
    this.#draw();
    await this.#server.submit(turn.runId!, [{ tool_call_id: id, decision }]).catch((error) => {
      this.#answered.delete(id);
      this.#fail(turn.runId!, error);
    });
  }

  async #answerQuestion(turn: Turn, id: string, elicitation: NonNullable<Answerable["elicitation"]>): Promise<void> {
    const key = `${id} ${elicitation.id}`;
    if (this.#answered.has(key)) return;
    this.#answered.add(key);
    await this.#server.submit(turn.runId!, [{ tool_call_id: id, elicitation }]).catch((error) => {
      this.#answered.delete(key);
      this.#fail(turn.runId!, error);
    });
  }

  #fail(runId: string, error: unknown): void {
    const turn = this.#turns.find((one) => one.runId === runId);
    if (turn) turn.error = describeError(error);
    this.#draw();
  }

  /** True if the message can go to the run that is at work, which takes no documents. */
  get #canSteer(): boolean {
    const isEmpty = this.#input.value.trim() === "" && this.#pictures.length === 0;
    return this.#isBusy && !isEmpty && this.#documents.length === 0 && this.#turns.at(-1)?.runId != null;
  }

  /** Sends the message to the run that is at work; its stream shows it. */
  async #steer({ runId }: Turn): Promise<void> {
    const [text, pictures] = [this.#input.value.trim(), this.#pictures];
    this.#input.value = "";
    this.#pictures = [];
    this.#hint = null;
    this.#showChosen();
    this.#draw();
    const input = inputOf(text, pictures);
    try {
      await this.#server.steer(runId!, typeof input === "string" ? input : input[0]!.content);
    } catch (error) {
      if (this.#input.value === "") this.#input.value = text; // It was not accepted: it can be sent again.
      if (this.#pictures.length === 0) this.#pictures = pictures;
      this.#hint = describeError(error);
      this.#showChosen();
      this.#draw();
    }
  }

  async #stop(turn: Turn): Promise<void> {
    turn.isUnwanted = turn.runId === null;
    if (turn.runId !== null) await this.#server.cancel(turn.runId).catch(() => {}); // The run may have ended already.
  }

  /** Draws at most once per animation frame, however fast the model writes. */
  #draw(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    requestAnimationFrame(() => {
      this.#isAsked = false;
      this.#paint();
    });
  }

  #paint(): void {
    const log = this.#log;
    const follows = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
    if (this.#turns.length === 0 && !log.firstChild)
      log.append(make("p", "empty", this.getAttribute("empty") ?? "Ask something to begin."));
    for (const turn of this.#turns) this.#paintTurn(turn);
    if (follows) log.scrollTop = log.scrollHeight;
    this.#send.textContent = this.#isBusy && !this.#canSteer ? "Stop" : "Send";
    const isEmpty = this.#input.value.trim() === "" && this.#pictures.length === 0 && this.#documents.length === 0;
    this.#send.disabled = !this.#isBusy && isEmpty;
    this.#status.textContent = this.#isLost
      ? "The connection is lost. Trying again."
      : this.#isBusy
        ? (this.#hint ?? this.#doing())
        : (this.#hint ?? "");
  }

  #doing(): string {
    const { view, pendingCalls, consents } = this.#turns.at(-1)!;
    if (view.status === "requires_action" && pendingCalls.length === 0 && consents.length > 0)
      return `Waiting until ${consents.map(({ name }) => name).join(" and ")} is connected.`;
    if (view.status === "requires_action")
      return [...view.parts.filter(isWaiting), ...pendingCalls].some(
        ({ needs }) => needs === "approval" || needs === "elicitation",
      )
        ? "Waiting for your decision."
        : "Waiting for an answer.";
    if (view.status === "paused") return "Paused.";
    if (view.status === "queued") return "Waiting for its turn.";
    return "Writing.";
  }

  #paintTurn(turn: Turn): void {
    let turnView = this.#shown.get(turn);
    if (!turnView) {
      this.#log.querySelector(".empty")?.remove();
      turnView = { node: make("section", "turn"), parts: new Map() };
      for (const picture of turn.pictures)
        turnView.node.append("data" in picture ? pictureNode(picture.data) : this.#keptPicture(picture.id));
      for (const name of turn.documents) turnView.node.append(make("div", "document", name));
      if (turn.user) turnView.node.append(make("div", "user", turn.user));
      this.#shown.set(turn, turnView);
      this.#log.append(turnView.node);
    }
    const { node, parts } = turnView;
    const put = (key: string, part: unknown, render: () => HTMLElement) => {
      const known = parts.get(key);
      if (known?.part === part) return;
      const fresh = render();
      if (known) known.node.replaceWith(fresh);
      else node.append(fresh);
      parts.set(key, { part, node: fresh });
    };
    const { view, error } = turn;
    for (const part of withoutHandoffCalls(view.parts))
      if (part.kind === "tool") put(part.key, part, () => this.#toolNode(turn, part));
      else if (part.kind === "message") put(part.key, part, () => make("div", "user", part.content));
      else if (part.kind === "handoff")
        put(part.key, part, () => {
          parts.get(part.callId)?.node.remove();
          return make("div", "place", `${part.agentName} answers from here.`);
        });
      else if (part.output && part.state !== "void")
        put(part.key, part, () => textNode(part.output, part.state === "writing"));
      else if (part.state === "void") parts.get(part.key)?.node.remove();
    // A run's own events do not contain the calls of its subagents.
    const subagentCalls = turn.pendingCalls.filter(
      ({ tool_call_id }) => !view.parts.some((part) => part.kind === "tool" && part.id === tool_call_id),
    );
    for (const [key, { node }] of parts) {
      if (!key.startsWith(belowKey) || subagentCalls.some(({ tool_call_id }) => key === belowKey + tool_call_id))
        continue;
      node.remove();
      parts.delete(key);
    }
    for (const { tool_call_id: id, name: tool, arguments: args, needs } of subagentCalls)
      put(belowKey + id, id, () => this.#toolNode(turn, { id, tool, args, needs, state: "waiting" }));
    for (const [key, { node }] of parts) {
      if (!key.startsWith(consentKey) || turn.consents.some((one) => key === consentKey + one.oauth_client_id))
        continue;
      node.remove();
      parts.delete(key);
    }
    for (const consent of turn.consents)
      put(consentKey + consent.oauth_client_id, consent.url, () => consentNode(consent));
    for (const id of this.#answered)
      for (const key of [id, belowKey + id])
        for (const button of parts.get(key)?.node.querySelectorAll("button") ?? []) button.disabled = true;
    const noteText =
      error ?? (view.status === "failed" || view.status === "cancelled" ? describeEnd(view.error?.code) : null);
    const code = error ? null : (view.error?.code ?? null);
    if (noteText) put("note", noteText, () => noteNode(noteText, code === "run_cancelled"));
    else parts.get("note")?.node.remove();
    if (!noteText) parts.delete("note");
    const isRated = this.hasAttribute("feedback") && view.status === "completed" && turn.runId !== null;
    if (isRated)
      put("feedback", true, () => feedbackNode({ given: turn.feedback, save: (next) => this.#rate(turn, next) }));
  }

  /** An image stored on the server, loaded when it scrolls into view. */
  #keptPicture(id: string): HTMLElement {
    const node = make("div", "picture", "Image");
    const watch = new IntersectionObserver(([entry]) => {
      if (!entry?.isIntersecting) return;
      watch.disconnect();
      this.#server.picture(id).then(
        async (blob) => pictureTypes.includes(blob.type) && node.replaceWith(pictureNode(await addressOf(blob))),
        () => {}, // The image was deleted or is not accessible: keep the placeholder.
      );
    });
    watch.observe(node);
    return node;
  }

  #toolNode(turn: Turn, part: ShownCall): HTMLElement {
    const node = make("details", `tool ${part.state}`);
    const summary = make("summary");
    summary.append(make("b", "", part.tool), " ", make("span", "", toolWords[part.state]));
    node.append(summary, scrolledText(JSON.stringify(part.args, null, 2)));
    if (part.state === "completed") node.append(scrolledText(asText(part.result)));
    if (part.state === "waiting" && part.elicitation) {
      node.setAttribute("open", "");
      node.append(questionNode(part.elicitation, (answer) => void this.#answerQuestion(turn, part.id, answer)));
      return node;
    }
    if (part.state !== "waiting" || part.needs !== "approval") return node;
    node.setAttribute("open", "");
    const acts = make("div", "acts");
    const act = (label: string, decision: "approve" | "reject", name: string) =>
      makeButton(label, name, ({ detail }) => {
        // Ignores the second click of a double click: by then another call may stand in that place.
        if (detail < 2) void this.#decide(turn, part.id, decision);
      });
    acts.append(act("Approve", "approve", "main"), act("Reject", "reject", ""));
    node.append(acts);
    return node;
  }

  /** Stores the person's rating as a score of the run, and notifies the page with a `runnel-feedback` event. */
  async #rate(turn: Turn, feedback: Feedback | null): Promise<boolean> {
    const detail = { run_id: turn.runId, value: feedback?.value ?? null, comment: feedback?.comment ?? "" };
    this.dispatchEvent(new CustomEvent("runnel-feedback", { detail, bubbles: true, composed: true }));
    try {
      if (feedback) turn.scoreId = await this.#server.score(turn.runId!, feedback);
      else if (turn.scoreId) await this.#server.unscore(turn.scoreId);
      turn.feedback = feedback;
      return true;
    } catch (error) {
      // The page stores the rating itself.
      if (error instanceof ChatError && error.code === "insufficient_scope") return false;
      throw error;
    }
  }
}

/** The fields of a call that are shown. */
type ShownCall = Pick<ToolPart, "id" | "tool" | "args" | "needs" | "elicitation" | "state"> & { result?: unknown };

/** A text that scrolls, also by keyboard. */
function scrolledText(text: string): HTMLElement {
  const node = make("pre", "", text);
  node.tabIndex = 0;
  return node;
}

const belowKey = "below-";
const consentKey = "consent-";

/** Asks the user to connect an account. The run goes on by itself, so the page of the authorization opens beside it. */
function consentNode({ name, url }: PendingConsent): HTMLElement {
  const node = make("section", "tool waiting");
  node.setAttribute("aria-label", `Connect ${name}`);
  node.append(make("b", "", name), " ", make("span", "", "needs your account to go on."));
  if (url === null) return node;
  const acts = make("div", "acts");
  const link = make("a", "main", `Connect ${name}`);
  Object.assign(link, { href: url, target: "_blank", rel: "noopener noreferrer" });
  acts.append(link);
  node.append(acts);
  return node;
}

/** Builds the run input of a message and its images. */
const inputOf = (text: string, pictures: readonly Picture[]) =>
  pictures.length === 0
    ? text
    : [
        {
          role: "user",
          content: [
            ...(text ? [{ type: "text", text }] : []),
            ...pictures.map(({ data }) => ({ type: "image", data })),
          ],
        },
      ];

/** Reads the last message of a run's input. */
function readInput(input: unknown): { text: string; pictures: ImageSource[] } {
  if (typeof input === "string") return { text: input, pictures: [] };
  const messages = input as { content?: string | { text?: string; file_id?: string }[] }[];
  const { content = "" } = messages.at(-1) ?? {};
  if (typeof content === "string") return { text: content, pictures: [] };
  const text = content.flatMap((part) => part.text ?? []).join("\n");
  return { text, pictures: content.flatMap(({ file_id: id }) => (id ? [{ id }] : [])) };
}

function pictureNode(data: string): HTMLElement {
  const image = make("img", "picture");
  Object.assign(image, { src: data, alt: "Image that you sent" });
  return image;
}

const isWaiting = (part: Part): part is ToolPart => part.kind === "tool" && part.state === "waiting";

const toolWords: Record<ToolPart["state"], string> = {
  running: "is at work",
  waiting: "waits for an answer",
  completed: "is done",
  failed: "failed",
  ended: "was stopped",
};

const asText = (value: unknown): string =>
  (typeof value === "string" ? value : JSON.stringify(value, null, 2)).slice(0, 4000);

function textNode(text: string, isWriting: boolean): HTMLElement {
  const node = make("div", isWriting ? "text writing" : "text");
  node.append(...parseMarkdown(visibleText(text)).map(domOf));
  return node;
}

function noteNode(text: string, isQuiet: boolean): HTMLElement {
  const node = make("div", isQuiet ? "note" : "note bad", text);
  node.setAttribute("role", isQuiet ? "note" : "alert");
  return node;
}

/** Builds elements by tag name and never from HTML, so that model output cannot inject code. */
function domOf(piece: Piece): Node {
  if (typeof piece === "string") return document.createTextNode(piece);
  const node = document.createElement(piece.tag);
  if (node instanceof HTMLAnchorElement && piece.href) return linkNode(node, piece.href, piece.children);
  if (node instanceof HTMLOListElement && piece.start) node.start = piece.start;
  node.append(...piece.children.map(domOf));
  if (node instanceof HTMLPreElement) node.tabIndex = 0; // Scrollable code must be reachable by keyboard.
  if (piece.tag !== "table") return node;
  const scroll = make("div", "scroll");
  scroll.tabIndex = 0;
  scroll.append(node);
  return scroll;
}

/** Shows a link's target beside its text, because the text can claim anything. Omitted if the text is the address. */
function linkNode(node: HTMLAnchorElement, href: string, children: Piece[]): Node {
  const { protocol, host, pathname } = new URL(href);
  const place = protocol === "mailto:" ? pathname : host;
  Object.assign(node, { href, target: "_blank", rel: "noopener noreferrer", title: visibleText(place) });
  node.append(...children.map(domOf));
  const text = node.textContent?.trim().toLowerCase() ?? "";
  if ([place, href, href.replace(/\/$/, ""), href.replace("mailto:", "")].includes(text)) return node;
  const fragment = document.createDocumentFragment();
  fragment.append(node, make("span", "place", ` (${place})`));
  return fragment;
}

// The page may block storage: then a reload starts a new thread.
function readThread(place: string): StoredThread | null {
  try {
    return JSON.parse(sessionStorage.getItem(place) ?? "null");
  } catch {
    return null;
  }
}
function storeThread(place: string, stored: StoredThread): void {
  try {
    sessionStorage.setItem(place, JSON.stringify(stored));
  } catch {}
}
function removeThread(place: string): void {
  try {
    sessionStorage.removeItem(place);
  } catch {}
}
