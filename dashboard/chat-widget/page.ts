import { visibleText } from "../src/lib/visible-text.ts";
import { RunnelChat } from "./chat.ts";

// The page at `/chat/<agent>`. Its secret stands behind the `#`, which browsers send to no server, so no log contains
// it.

interface TokenResponse {
  token: string;
  title: string | null;
  files: boolean;
  thread_id: string | null;
}

if (!customElements.get("runnel-chat")) customElements.define("runnel-chat", RunnelChat);

const main = document.getElementById("chat")!;
const agent = location.pathname.split("/")[2] ?? "";
const dark = matchMedia("(prefers-color-scheme: dark)");
const applyTheme = () => document.documentElement.toggleAttribute("data-dark", dark.matches);
dark.addEventListener("change", applyTheme);
applyTheme();

/** Requests a token. Returns it, or the error code of the refusal. */
async function enter(): Promise<TokenResponse | string> {
  try {
    const response = await fetch(`/chat/${agent}/token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ secret: location.hash.slice(1) }),
    });
    const payload = await response.json();
    return response.ok ? payload : String(payload.error?.code);
  } catch {
    return "unreachable";
  }
}

const refusals: Record<string, string> = {
  missing_session: "This chat is for people who are signed in.",
  rate_limited: "Too many people are asking just now. Try again in a minute.",
  unreachable: "The chat cannot reach its server. Check your connection, then try again.",
};

function refuse(code: string): void {
  const note = document.createElement("section");
  note.className = "note";
  const alertNode = document.createElement("p");
  alertNode.setAttribute("role", "alert");
  alertNode.append(refusals[code] ?? "There is no such chat. Its link may have been replaced: ask for the new one.");
  note.append(headingOf("Chat"), alertNode, code === "missing_session" ? signIn() : button("Try again", open));
  main.replaceChildren(note);
}

/** Opens the sign-in in another tab. The chat opens when this tab gets the focus back. */
function signIn(): HTMLElement {
  const link = Object.assign(document.createElement("a"), {
    href: "/dashboard/login",
    target: "_blank",
    rel: "noopener",
  });
  link.className = "act";
  link.textContent = "Sign in";
  addEventListener("focus", () => void open(), { once: true });
  return link;
}

function button(text: string, onPress: () => unknown): HTMLButtonElement {
  const buttonNode = document.createElement("button");
  buttonNode.type = "button";
  buttonNode.textContent = text;
  buttonNode.addEventListener("click", () => void onPress());
  return buttonNode;
}

function headingOf(text: string): HTMLElement {
  const heading = document.createElement("h1");
  heading.textContent = text;
  return heading;
}

async function open(): Promise<void> {
  const entered = await enter();
  if (typeof entered === "string") return refuse(entered);
  const { title, thread_id } = entered;
  document.title = visibleText(title ?? "Chat");
  const head = document.createElement("header");
  head.append(
    headingOf(document.title),
    button("New conversation", () => main.querySelector("runnel-chat")!.replaceWith(chatOf(null))),
  );
  main.replaceChildren(head, chatOf(thread_id));

  function chatOf(thread: string | null): HTMLElement {
    const chat = document.createElement("runnel-chat");
    chat.setAttribute("agent", agent);
    chat.setAttribute("token", (entered as TokenResponse).token);
    chat.setAttribute("thread", thread ?? "new");
    chat.toggleAttribute("feedback", true);
    chat.toggleAttribute("files", (entered as TokenResponse).files);
    chat.addEventListener("token-expired", async () => {
      const again = await enter();
      if (typeof again !== "string") chat.setAttribute("token", again.token);
    });
    return chat;
  }
}

void open();
