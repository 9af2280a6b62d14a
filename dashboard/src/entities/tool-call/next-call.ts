/**
 * Element of a pending call that receives the focus: the output field, or the title. Never a button, because a stray
 * key would then decide.
 */
export const findCall = (part: ParentNode): HTMLElement | null =>
  part.querySelector("[data-call] :is([data-rest], textarea, [role=textbox])");
