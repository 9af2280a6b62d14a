import { useQuery } from "@tanstack/react-query";
import { TextQuote } from "lucide-react";
import { useState } from "react";
import type { Snippet } from "../../../../server/domain/api-types/snippet.ts";
import { ListPage } from "../../entities/crud/list-page.tsx";
import { usePermission } from "../../entities/session/use-may.ts";
import { snippetApi } from "../../entities/snippet/snippet-api.ts";
import type { NamedSearch } from "../../lib/page-search.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Cell, Row, RowActs, rowLink, SecondLine } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { type SnippetAct, SnippetDialogs, SnippetMenu } from "./snippet-acts.tsx";

const columns = [
  { label: "Snippet" },
  { label: "Version", right: true },
  { label: "Updated", folds: true },
  { label: "Actions", silent: true },
];

/** Texts that agents share. */
export function SnippetsPage({ search, onSearch }: { search: NamedSearch; onSearch: (search: NamedSearch) => void }) {
  const at = useWorkspace();
  const list = useQuery(snippetApi.page(at, search));
  const [act, setAct] = useState<SnippetAct | null>(null);
  return (
    <>
      <ListPage
        title="Snippets"
        noun="snippet"
        list={list}
        columns={columns}
        search={search}
        onSearch={onSearch}
        row={(snippet) => <SnippetRow key={snippet.id} snippet={snippet} onAct={setAct} />}
        searchBy="name"
        create={{ act: "Create snippet", onCreate: () => setAct({ kind: "create" }) }}
        empty={{
          icon: TextQuote,
          title: `No ${at.mode} snippets yet`,
          about:
            "A snippet is a text that agents share, such as a refund policy. Instructions place it as {{> name}}. Each change of the text makes a new version.",
        }}
      />
      <SnippetDialogs act={act} onAct={setAct} />
    </>
  );
}

/** A snippet's row: its name and version. A click shows its text. */
function SnippetRow({ snippet, onAct }: { snippet: Snippet; onAct: (act: SnippetAct) => void }) {
  const { id, name, description, text, version, updated_at } = snippet;
  const may = usePermission("member");
  return (
    <Row data-snippet={id}>
      <Cell main>
        <button
          type="button"
          data-row
          title={name}
          className={rowLink}
          onClick={() => onAct({ kind: "edit", snippet })}
        >
          <span className="font-medium">{name}</span>
        </button>
        <SecondLine title={description ?? text}>{description || text}</SecondLine>
      </Cell>
      <Cell right>
        <span className="rail:hidden">Version {version}</span>
        <span className="max-rail:hidden">{version}</span>
      </Cell>
      <Cell folds className="whitespace-nowrap text-muted">
        <Time at={updated_at} />
      </Cell>
      <Cell right className="max-rail:ml-auto rail:w-px">
        {may && (
          <RowActs>
            <SnippetMenu snippet={snippet} onAct={onAct} />
          </RowActs>
        )}
      </Cell>
    </Row>
  );
}
