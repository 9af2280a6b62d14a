import type { MdreamOptions } from "@mdream/js";

type Hook = NonNullable<MdreamOptions["hooks"]>[number];

const hiddenStyle = /(?:display\s*:\s*none|visibility\s*:\s*hidden)[^;]*;?/i;
// The converter takes it for hidden, but it only stands in another place.
const place = /position\s*:\s*(?:absolute|fixed)[^;]*;?/gi;
const noText = new Set(["script", "style", "template", "noscript"]);

/** Makes the converter read hidden text, or notes whether it leaves any out. */
export function watchHidden(includeHidden: boolean): { hook: Hook; isTextHidden(): boolean } {
  const hidden = new WeakSet<object>();
  let isTextHidden = false;
  return {
    hook: {
      processAttributes(node) {
        const { style, hidden: isHidden } = node.attributes;
        if (style !== undefined) node.attributes.style = style.replace(place, "");
        if (isHidden === undefined && !hiddenStyle.test(style ?? "")) {
          if (node.parent && hidden.has(node.parent)) hidden.add(node);
          return;
        }
        if (!includeHidden) hidden.add(node);
        else {
          delete node.attributes.hidden;
          node.attributes.style = (style ?? "").replace(hiddenStyle, "").replace(place, "");
        }
      },
      beforeNodeProcess({ node }) {
        if (!("value" in node) || !node.parent || !hidden.has(node.parent)) return;
        isTextHidden ||= String(node.value).trim() !== "" && !noText.has(node.parent.name);
      },
    },
    isTextHidden: () => isTextHidden,
  };
}
