import type { SeededIds } from "./seed.ts";
import { click, dialog, inTurn, onPhone, type State } from "./states.ts";

/** Returns runs that people steer and pause, and agents with handoffs, skills, variables and many tools. */
export function teamworkStates(ids: SeededIds): Record<string, State> {
  const shown =
    (text: string | RegExp): State["act"] =>
    (page) =>
      page.getByText(text).first().scrollIntoViewIfNeeded();
  const openSnippet = inTurn(click("button", "More for closing_words"), click("menuitem", "Edit snippet"), dialog);
  return {
    "steer-dialog": { path: `/runs/${ids.steering}`, act: inTurn(click("button", "Message"), dialog) },
    "runs-paused": { path: "/runs?status=paused" },
    "palette-run": {
      path: `/runs/${ids.paused}`,
      act: inTurn(
        (page) => page.getByRole("button", { name: "Resume" }).waitFor(),
        (page) => page.keyboard.press("ControlOrMeta+k"),
        dialog,
      ),
    },
    "trace-interrupted": { path: `/runs/${ids.steered}?step=0&view=detail` },
    "trace-steered-events": { path: `/runs/${ids.steered}?tab=events&view=detail` },
    "trace-steered-replay": { path: `/runs/${ids.steered}?tab=messages&view=detail&t=50` },
    "trace-handoff": { path: `/runs/${ids.handedOver}?step=1&view=detail` },
    "trace-handoff-graph": { path: `/runs/${ids.handedOver}?graph=drawing` },
    "trace-handoff-table": { path: `/runs/${ids.handedOver}?graph=table` },
    "trace-tools-loaded": { path: `/runs/${ids.searched}?step=4&tab=output&view=detail` },
    "trace-tools-sent": { path: `/runs/${ids.searched}?step=4&tab=request&view=detail` },
    "trace-skill": { path: `/runs/${ids.skilled}?step=1&view=detail` },
    "trace-skill-file": { path: `/runs/${ids.skilled}?step=4&view=detail` },
    "trace-filled": { path: `/runs/${ids.filled}?step=0&tab=request&view=detail` },
    "trace-fork-variables": {
      path: `/runs/${ids.filled}?step=0&fork=true`,
      act: (page) => page.getByText("Also change the model").click(),
    },
    "skill-file": { path: `/skills/${ids.largeSkill}?file=references%2Ftone.md&version=1` },
    "snippet-edit": { path: "/snippets", act: openSnippet },
    "agent-handoffs": { path: `/agents/${ids.frontDesk}`, act: shown("Add a handoff") },
    "agent-tool-loading": { path: `/agents/${ids.manyTools}`, act: shown("Tool loading") },
    "agent-variables": { path: `/agents/${ids.letters}`, act: shown("Add variable") },
    "playground-missing": {
      path: `/playground?agent=${ids.letters}`,
      act: onPhone((page) => page.getByText("Agent", { exact: true }).first().click()),
    },
    "playground-handoff": {
      path: `/playground?agent=${ids.frontDesk}`,
      act: async (page) => {
        await page.getByRole("textbox", { name: /message/i }).fill("Both mugs are broken.");
        await page.keyboard.press("ControlOrMeta+Enter");
        await page.getByText("Completed").first().waitFor();
      },
    },
    "trigger-rotate": {
      path: `/triggers/${ids.events}`,
      act: inTurn(click("button", /^More for/), click("menuitem", "Rotate secret"), dialog),
    },
  };
}
