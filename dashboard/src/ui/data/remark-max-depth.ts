/** The parts of Markdown's tree that limiting the depth needs. */
interface TreeNode {
  type: string;
  value?: string;
  children?: TreeNode[];
  position?: { start: { offset?: number }; end: { offset?: number } };
}

const deepest = 12;
const containers = new Set(["blockquote", "list", "emphasis", "strong", "delete"]);

/** Remark plugin that turns content nested in more than twelve quotes, lists or emphases into plain text. */
export function remarkMaxDepth() {
  return (tree: TreeNode, file: unknown) => bound(tree, 0, String(file));
}

function bound(node: TreeNode, depth: number, source: string): void {
  node.children = node.children?.map((child) => {
    const inner = depth + (containers.has(child.type) ? 1 : 0);
    if (inner > deepest) return asText(child, source);
    bound(child, inner, source);
    return child;
  });
}

function asText(node: TreeNode, source: string): TreeNode {
  const text = { type: "text", value: source.slice(node.position?.start.offset ?? 0, node.position?.end.offset ?? 0) };
  const isBlock = node.type === "blockquote" || node.type === "list";
  return isBlock ? { type: "paragraph", children: [text] } : text;
}
