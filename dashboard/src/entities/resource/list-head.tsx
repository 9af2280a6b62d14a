import { Link, useNavigate } from "@tanstack/react-router";
import { type LucideIcon, Plus } from "lucide-react";
import type { ReactNode } from "react";
import { useKeys } from "../../lib/use-keys.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import { useMay } from "../session/use-may.ts";

/** What makes a thing of a list: a dialog, or a page. */
export interface Creation {
  /** “Create agent”. */
  act: string;
  /** “Create the first agent”, where there is none. */
  first?: string;
  icon?: LucideIcon;
  to?: "/agents/new" | "/tools/new";
  onCreate?: () => void;
}

/** The head of a list: what it lists, and the act that makes one, for which `c` stands. */
export function ListHead({ title, create, children }: { title: string; create?: Creation; children?: ReactNode }) {
  const at = useWorkspace();
  const may = useMay("member");
  const navigate = useNavigate();
  const { to, icon: Icon = Plus, act, onCreate } = create ?? {};
  useTitle(title, at.project.name);
  useKeys({ c: () => (to ? void navigate({ to }) : onCreate?.()) }, may && create !== undefined);
  return (
    <SheetHead>
      <h1 className="text-lg">{title}</h1>
      <ModePill />
      <div className="ml-auto flex flex-wrap items-center justify-end gap-2">
        {children}
        {may && create && (
          <CreateAct create={create}>
            <Icon aria-hidden className="size-4" strokeWidth={1.5} />
            {act}
          </CreateAct>
        )}
        {!may && <ViewOnly />}
      </div>
    </SheetHead>
  );
}

/** The act itself, in the head or where nothing is yet. */
export function CreateAct({ create: { to, onCreate }, children }: { create: Creation; children: ReactNode }) {
  return to ? (
    <Link to={to} className={buttonClass({ kind: "primary" })}>
      {children}
    </Link>
  ) : (
    <Button kind="primary" onClick={onCreate}>
      {children}
    </Button>
  );
}
