import type { Page } from "@playwright/test";

/**
 * Returns parts that a narrow window cuts off: the page scrolls sideways, or a control lies outside without a
 * scrollable parent.
 */
export const findCutOffElements = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    // Layout by script follows layout by style one frame later.
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
    const { scrollWidth, clientWidth } = document.documentElement;
    const faults = scrollWidth > clientWidth ? [`the page scrolls sideways by ${scrollWidth - clientWidth} px`] : [];
    const scrolls = (element: Element): boolean => {
      for (let at: Element | null = element; at; at = at.parentElement)
        if (/auto|scroll/.test(getComputedStyle(at).overflowX) && at.scrollWidth > at.clientWidth) return true;
      return false;
    };
    for (const control of document.querySelectorAll("a, button, input, select, textarea, summary, h1, h2, label")) {
      const { left, right, width } = control.getBoundingClientRect();
      const isSeen = width > 2 && control.checkVisibility({ visibilityProperty: true });
      const isOut = left < -1 || right > clientWidth + 1;
      if (isSeen && isOut && !scrolls(control) && !control.closest(".sr-only, [href='#main']"))
        faults.push(`cut off: ${control.outerHTML.slice(0, 200)}`);
    }
    return faults;
  });

/** Returns elements that still move, or would, although the person prefers reduced motion. */
export const findMovingElements = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const lasts = (times: string) => times.split(", ").some((time) => Number.parseFloat(time) > 0.001);
    const named = (element: Element | null | undefined) => element?.outerHTML.slice(0, 200);
    const running = document
      .getAnimations()
      .filter(({ effect }) => Number(effect?.getComputedTiming().endTime) > 1)
      .map(({ effect }) => `moves: ${named((effect as KeyframeEffect).target)}`);
    const ready = [...document.querySelectorAll("*")]
      .filter((element) => {
        const { transitionDuration, animationDuration, animationName } = getComputedStyle(element);
        return lasts(transitionDuration) || (animationName !== "none" && lasts(animationDuration));
      })
      .map((element) => `would move: ${named(element)}`);
    return [...running, ...ready];
  });

/**
 * Returns elements without an outline in forced colours, which remove shades and shadows: controls, and the focused
 * one.
 */
export async function findElementsWithoutOutline(page: Page): Promise<string[]> {
  await page.keyboard.press("Shift"); // From now on the focus is a keyboard focus, and so is visible.
  return await page.evaluate(() => {
    const faults: string[] = [];
    const isSeen = (element: Element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const lined = (style: CSSStyleDeclaration, side: "outline" | "borderBottom") =>
      !["none", "hidden"].includes(style[`${side}Style`]) && Number.parseFloat(style[`${side}Width`]) >= 1;
    const boxes =
      "input:not([type=checkbox], [type=radio], [type=range], [tabindex='-1']), select, textarea, .outlined";
    for (const box of document.querySelectorAll(boxes))
      if (isSeen(box) && ![box, box.parentElement!].some((each) => lined(getComputedStyle(each), "borderBottom")))
        faults.push(`no border: ${box.outerHTML.slice(0, 200)}`);
    for (const control of document.querySelectorAll<HTMLElement>(
      "a[href], button, input, select, textarea, summary, [tabindex='0']",
    )) {
      if (!isSeen(control) || control.matches(":disabled, input[tabindex='-1']")) continue;
      control.focus({ focusVisible: true, preventScroll: true } as FocusOptions);
      if (document.activeElement !== control) continue;
      // A hidden control is visible by the element painted in its place.
      const place = control.matches(".sr-only") ? control.parentElement : control;
      if (place && !lined(getComputedStyle(place), "outline"))
        faults.push(`focus unseen: ${control.outerHTML.slice(0, 200)}`);
    }
    (document.activeElement as HTMLElement | null)?.blur();
    return faults;
  });
}

/** Returns the actions that a page offers, in its first menu too: enabled controls that would change data. */
export async function findActions(page: Page): Promise<string[]> {
  const main = page.getByRole("main");
  const acts = await main
    .locator("button:enabled:not([role]), a[href]")
    .filter({ hasText: changes, visible: true })
    .or(main.getByRole("button", { name: changes, disabled: false }))
    .allTextContents();
  const menus = main
    .locator("[aria-haspopup=menu]")
    .and(main.getByRole("button", { name: /^More\b/, disabled: false }));
  if (await menus.count()) {
    await menus.first().click();
    await page.getByRole("menu").waitFor();
    acts.push(...(await page.getByRole("menuitem", { name: changes, disabled: false }).allTextContents()));
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "hidden" });
  }
  return acts.map((act) => act.trim());
}

const changes =
  /^\s*(Create|New|Add|Upload|Edit|Save|Rename|Set|Test|Rotate|Revoke|End|Send|Run|Try|Retry|Pause|Resume|Approve|Reject|Answer|Cancel|Stop|Fork|Pin|Verify|Invite|Remove|Delete|Archive|Restore|Back up)\b/;
