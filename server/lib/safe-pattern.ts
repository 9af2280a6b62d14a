const maxLength = 256;

/**
 * Whether a stranger's regular expression may run here: short, valid, and without what makes a backtracking engine
 * take exponential time (a repetition within a repetition, back references, look-around).
 */
export function isSafePattern(pattern: string): boolean {
  if (pattern.length > maxLength || /\(\?<?[=!]|\\[1-9]|\\k</.test(pattern)) return false;
  try {
    new RegExp(pattern, "u");
  } catch {
    return false;
  }
  return !repeatsRepetition(pattern);
}

function repeatsRepetition(pattern: string): boolean {
  // Per open group: does it hold something that may repeat without end?
  const groups: boolean[] = [false];
  let inClass = false;
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i];
    if (char === "\\") i++;
    else if (inClass) inClass = char !== "]";
    else if (char === "[") inClass = true;
    else if (char === "(") groups.push(false);
    else if (char === ")") {
      const repeats = groups.pop() === true;
      const repeated = isRepetition(pattern, i + 1);
      if (repeats && repeated) return true;
      if (repeats || repeated) groups[groups.length - 1] = true;
    } else if (isRepetition(pattern, i)) groups[groups.length - 1] = true;
  }
  return false;
}

// `{2}` of a group that repeats without end doubles the ways too, so every count above 1 is a repetition.
const isRepetition = (pattern: string, at: number): boolean =>
  /^(?:[*+]|\{(?![01]\}|0,1\})\d+,?\d*\})/.test(pattern.slice(at, at + 16));
