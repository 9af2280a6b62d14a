import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTitle } from "../../hooks/use-title.ts";
import { Breadcrumb } from "../../ui/data/breadcrumb.tsx";
import { DescriptionList } from "../../ui/data/description-list.tsx";
import { ModePill } from "../../ui/data/mode-pill.tsx";
import { ViewOnly } from "../../ui/data/view-only.tsx";
import { SheetHead } from "../../ui/dialogs/sheet.tsx";
import { usePermission } from "../session/use-may.ts";
import { type ListPath, listNames } from "./places.ts";

/** Head of an object's page: name, status, actions and description. */
export function ObjectHead({
  list,
  name,
  pills,
  links,
  acts,
  children,
}: {
  list: ListPath;
  name: string;
  /** Status badges. */
  pills?: ReactNode;
  /** Actions for everyone. */
  links?: ReactNode;
  /** Actions hidden from viewers. */
  acts?: ReactNode;
  /** Description list. */
  children?: ReactNode;
}) {
  const may = usePermission("member");
  useTitle(name, listNames[list]);
  return (
    <SheetHead>
      <Breadcrumb>
        <Link to={list}>{listNames[list]}</Link>
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
      {children && <DescriptionList>{children}</DescriptionList>}
    </SheetHead>
  );
}
