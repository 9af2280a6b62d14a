/** Returns the remaining time to the second: `21:14:09`, `6 d 23:59:08`. */
export function countdown(ms: number): string {
  const left = Math.max(0, Math.ceil(ms / 1000));
  const two = (value: number) => String(value).padStart(2, "0");
  const clock = `${two(Math.floor(left / 3600) % 24)}:${two(Math.floor(left / 60) % 60)}:${two(left % 60)}`;
  const days = Math.floor(left / 86_400);
  return days > 0 ? `${days} d ${clock}` : clock;
}
