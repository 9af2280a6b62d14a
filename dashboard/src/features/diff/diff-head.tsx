import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Breadcrumb } from "../../ui/breadcrumb.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { SheetHead } from "../../ui/sheet.tsx";

/** Where the page is, and what can be done with it. */
export function DiffHead({ children }: { children?: ReactNode }) {
  return (
    <SheetHead>
      <Breadcrumb>
        <Link to="/runs">Runs</Link>
      </Breadcrumb>
      <h1 className="text-lg">Compare</h1>
      <span className="inline-flex max-rail:hidden">
        <ModePill />
      </span>
      <span className="ml-auto flex flex-wrap items-center justify-end gap-x-3 gap-y-1">{children}</span>
    </SheetHead>
  );
}
