import { Clock } from "lucide-react";
import { timeFormats, useTimeFormat } from "../data/time.tsx";
import { Menu } from "../dialogs/menu.tsx";
import { buttonClass } from "./button.tsx";

const labels = { relative: "Relative times", local: "Local times", utc: "UTC times" };

/** Switches the time format of all pages. */
export function TimeSwitch() {
  const [format, setFormat] = useTimeFormat();
  const trigger = (
    <button type="button" className={`${buttonClass({ kind: "ghost", size: "sm" })} -ml-2`}>
      <Clock aria-hidden className="size-3.5" strokeWidth={1.5} />
      {labels[format]}
    </button>
  );
  return (
    <Menu trigger={trigger} side="top">
      {({ MenuChoice }) => (
        <>
          <MenuChoice
            title="Times"
            value={format}
            choices={timeFormats.map((value) => ({ value, label: labels[value] }))}
            onChange={setFormat}
          />
        </>
      )}
    </Menu>
  );
}
