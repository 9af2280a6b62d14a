/** Adds a number if the name is taken, which only a renamed tool or an MCP server's tool can cause. */
export function freeToolName(baseName: string, usedNames: ReadonlySet<string>): string {
  let name = baseName;
  for (let count = 2; usedNames.has(name); count++) name = `${baseName}_${count}`;
  return name;
}
