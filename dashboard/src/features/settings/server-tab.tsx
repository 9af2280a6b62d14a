import { useQuery } from "@tanstack/react-query";
import { LoaderCircle, type LucideIcon, ShieldAlert, ShieldCheck, ShieldOff } from "lucide-react";
import type { ReactNode } from "react";
import type { ServerInfo } from "../../../../server/domain/api-types/console.ts";
import type { SandboxLevel } from "../../../../server/domain/api-types/enums.ts";
import { serverQuery } from "../../entities/server/server-api.ts";
import { formatBytes } from "../../lib/format.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { Pill, type Tone } from "../../ui/data/pill.tsx";
import { Section } from "../../ui/data/section.tsx";
import { Time } from "../../ui/data/time.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { BackUpNow } from "./back-up-now.tsx";
import { SettingsSkeleton } from "./settings-skeleton.tsx";
import { TabBody } from "./tab-body.tsx";

/** The server's version, sandbox and backup. */
export function ServerTab() {
  const server = useQuery(serverQuery);
  return (
    <TabBody>
      {server.error && !server.data && (
        <div className="pt-4">
          <ErrorNote
            title="The server's details cannot be shown"
            error={server.error}
            onRetry={() => void server.refetch()}
          />
        </div>
      )}
      {server.isPending && <SettingsSkeleton />}
      {server.data && (
        <>
          <Section title="Server" about="This server and where it stores its data.">
            <Facts server={server.data} />
          </Section>
          <Section title="Sandbox" about="Isolates the code that tools run, for all projects of this server.">
            <SandboxFact level={server.data.sandbox_level} />
          </Section>
          <Section
            title="Backup"
            about="One file with the data of all projects: agents, runs, traces, files, accounts. The server keeps running meanwhile."
          >
            <BackUpNow databaseBytes={server.data.database_bytes} />
          </Section>
        </>
      )}
    </TabBody>
  );
}

function Facts({ server }: { server: ServerInfo }) {
  const { version, commit, built_at, started_at, data_dir } = server;
  const { embedding_models, database_bytes, free_bytes, disk_bytes } = server;
  const size = (bytes: number | null) => (bytes === null ? "–" : formatBytes(bytes));
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-2">
      <Fact name="Version">
        {version}
        <span className="text-muted"> (commit {commit})</span>
      </Fact>
      {built_at && (
        <Fact name="Built">
          <Time at={built_at} />
        </Fact>
      )}
      <Fact name="Running since">
        <Time at={started_at} />
      </Fact>
      {data_dir && (
        <Fact name="Data directory">
          <span className="flex min-w-0 items-center gap-1">
            <code className="min-w-0 wrap-anywhere">{data_dir}</code>
            <CopyButton text={data_dir} what="data directory" />
          </span>
        </Fact>
      )}
      <Fact name="Embedding models">
        <span className="wrap-anywhere">
          {embedding_models.join(", ") || "None: this is the lean build, without Python"}
        </span>
      </Fact>
      <Fact name="Database">{size(database_bytes)}</Fact>
      <Fact name="Free disk space">
        {size(free_bytes)} of {size(disk_bytes)}
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 tabular-nums">{children}</dd>
    </>
  );
}

interface Shown {
  tone: Tone;
  icon: LucideIcon;
  word: string;
  says: string;
}

const levels: Record<SandboxLevel, Shown> = {
  strict: {
    tone: "ok",
    icon: ShieldCheck,
    word: "Strict",
    says: "The operating system enforces the sandbox. JavaScript and Python run.",
  },
  process: {
    tone: "warn",
    icon: ShieldAlert,
    word: "Process only",
    says: "This operating system cannot enforce the sandbox: code only gets its own process. JavaScript runs, Python is refused.",
  },
  off: { tone: "plain", icon: ShieldOff, word: "Off", says: "No code runs on this server." },
};

/** Isolation level of code tools; null while the server detects it. */
function SandboxFact({ level }: { level: SandboxLevel | null }) {
  if (level === null)
    return (
      <Pill tone="plain" icon={LoaderCircle} spin>
        Testing
      </Pill>
    );
  const { tone, icon, word, says } = levels[level];
  return (
    <div className="flex flex-col items-start gap-1.5">
      <Pill tone={tone} icon={icon}>
        {word}
      </Pill>
      <p className="max-w-[68ch] text-muted">{says}</p>
    </div>
  );
}
