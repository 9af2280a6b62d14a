/**
 * Where the focus goes by itself in calls that wait: to the field of the first one's output, or to its title. Never to a
 * button: a key that was meant for something else would decide.
 */
export const findCall = (part: ParentNode): HTMLElement | null =>
  part.querySelector("[data-call] :is([data-rest], textarea, [role=textbox])");
