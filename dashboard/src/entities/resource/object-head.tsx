import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTitle } from "../../lib/use-title.ts";
import { Breadcrumb } from "../../ui/breadcrumb.tsx";
import { Facts } from "../../ui/facts.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import { useMay } from "../session/use-may.ts";
import { type Place, placeNames } from "./places.ts";

/** The head of one thing's page: what it is, how it stands, what can be done with it, and its facts. */
export function ObjectHead({
  list,
  name,
  pills,
  links,
  acts,
  children,
}: {
  list: Place;
  name: string;
  /** How it stands. */
  pills?: ReactNode;
  /** What everybody may do. */
  links?: ReactNode;
  /** What a viewer may not. */
  acts?: ReactNode;
  /** Its facts. */
  children?: ReactNode;
}) {
  const may = useMay("member");
  useTitle(name, placeNames[list]);
  return (
    <SheetHead>
      <Breadcrumb>
        <Link to={list}>{placeNames[list]}</Link>
      </Breadcrumb>
      <h1 className="cut text-lg" title={name}>
        {name}
      </h1>
      {pills}
      <ModePill />
      <div className="ml-auto flex items-center gap-2">
        {links}
        {may ? acts : <ViewOnly />}
      </div>
      {children && <Facts>{children}</Facts>}
    </SheetHead>
  );
}
