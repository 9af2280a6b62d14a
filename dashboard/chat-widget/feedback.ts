import { make, makeButton } from "./make.ts";

/** A person's rating of an answer. */
export interface Feedback {
  value: "good" | "bad";
  comment: string;
}

interface FeedbackOptions {
  given: Feedback | null;
  /**
   * Stores the feedback; null removes it. Returns false if this chat may not store any. Throws if the request fails.
   */
  save(feedback: Feedback | null): Promise<boolean>;
}

/** Two buttons below an answer; pressing one shows a comment field, pressing it again removes the feedback. */
export function feedbackNode({ given, save }: FeedbackOptions): HTMLElement {
  const node = make("div", "feedback");
  const note = make("span", "said");
  note.setAttribute("aria-live", "polite"); // A live region of its own: the chat's status is separate.
  let current = given;
  let isKept = true;
  let last: Promise<unknown> = Promise.resolve();

  /** Saves one after the other, so that the last press wins. */
  const keep = (next: Feedback | null, confirmation: string) => {
    current = next;
    note.textContent = "";
    draw();
    last = last.then(async () => {
      try {
        isKept = await save(next);
        if (current === next && isKept) note.textContent = confirmation;
      } catch {
        note.textContent = "This was not saved. Try again.";
      }
      draw();
    });
  };
  const choices = (["good", "bad"] as const).map((value) => {
    const button = makeButton(value === "good" ? "Good answer" : "Bad answer", "", () =>
      current?.value === value ? keep(null, "") : keep({ value, comment: current?.comment ?? "" }, "Thank you."),
    );
    return { value, button };
  });

  const form = make("form");
  const comment = make("textarea");
  comment.rows = 1;
  comment.maxLength = 4000;
  comment.value = given?.comment ?? "";
  const send = make("button", "", "Send comment");
  form.append(comment, send);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (current) keep({ ...current, comment: comment.value.trim() }, "Thank you for your comment.");
  });
  comment.addEventListener("input", () => draw());

  function draw(): void {
    for (const { value, button } of choices) button.setAttribute("aria-pressed", String(current?.value === value));
    form.hidden = current === null || !isKept;
    const question = current?.value === "bad" ? "What was wrong?" : "What was good?";
    comment.placeholder = question;
    comment.setAttribute("aria-label", question);
    send.disabled = comment.value.trim() === (current?.comment ?? "");
  }

  const acts = make("div", "acts");
  acts.append(...choices.map(({ button }) => button), note);
  node.append(acts, form);
  draw();
  return node;
}
