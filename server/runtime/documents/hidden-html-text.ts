import type { MdreamOptions } from "@mdream/js";

type Hook = NonNullable<MdreamOptions["hooks"]>[number];

const hiddenStyle = /(?:display\s*:\s*none|visibility\s*:\s*hidden)[^;]*;?/i;
// The converter takes it for hidden, but it only stands in another place.
const place = /position\s*:\s*(?:absolute|fixed)[^;]*;?/gi;
const noText = new Set(["script", "style", "template", "noscript"]);

/** Makes the converter read hidden text, or collects the text of each hidden element that it leaves out. */
export function watchHidden(includeHidden: boolean): { hook: Hook; texts(): string[] } {
  /** For each element within a hidden one, the hidden one. */
  const hidden = new WeakMap<object, object>();
  const texts = new Map<object, string>();
  return {
    hook: {
      processAttributes(node) {
        const { style, hidden: isHidden } = node.attributes;
        if (style !== undefined) node.attributes.style = style.replace(place, "");
        const isShown = isHidden === undefined || /^until-found$/i.test(isHidden);
        if (isShown && !hiddenStyle.test(style ?? "")) {
          const outer = node.parent && hidden.get(node.parent);
          if (outer) hidden.set(node, outer);
          return;
        }
        if (!includeHidden) hidden.set(node, (node.parent && hidden.get(node.parent)) ?? node);
        else {
          delete node.attributes.hidden;
          node.attributes.style = (style ?? "").replace(hiddenStyle, "").replace(place, "");
        }
      },
      beforeNodeProcess({ node }) {
        const outer = hidden.get(node) ?? (node.parent && hidden.get(node.parent));
        if (!outer) return;
        if ("value" in node && !noText.has(node.parent?.name ?? ""))
          texts.set(outer, `${texts.get(outer) ?? ""} ${node.value}`);
        return { skip: true };
      },
    },
    texts: () => [...texts.values()],
  };
}
