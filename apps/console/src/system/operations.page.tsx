import type { OperationView } from "@harrier/contracts";
import { ask, r } from "../api/client.ts";
import { system } from "../text/en.ts";
import type { Column } from "../ui/grid.tsx";
import { Listing, TwoLines } from "../ui/listing.tsx";
import { Empty } from "../ui/states.tsx";
import { Mark } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";

const t = system.operations;
const pollMs = 5_000;
const signs = { waiting: { tone: "wait", sign: "○" }, running: { tone: "run", sign: "▸" }, finished: { tone: "ok", sign: "✓" } } as const;

const columns: readonly Column<OperationView>[] = [
  {
    id: "what",
    head: t.columns.what,
    width: "minmax(200px, 1.5fr)",
    cell: ({ kind, subject }) => <TwoLines first={t.kinds[kind] ?? kind} second={subject} />,
  },
  {
    id: "status",
    head: t.columns.status,
    width: "minmax(140px, 1fr)",
    cell: ({ status, lastError, failed = 0 }) => {
      const { tone, sign } = lastError === undefined && failed === 0 ? signs[status] : ({ tone: "bad", sign: "✕" } as const);
      const word = <Mark tone={tone} sign={sign} word={t.states[status] ?? status} />;
      return <TwoLines first={word} second={lastError ?? (failed > 0 ? t.failed(failed) : "")} />;
    },
  },
  { id: "progress", head: t.columns.progress, width: "150px", cell: ({ done, total }) => <span className="num">{t.of(done, total)}</span> },
  { id: "by", head: t.columns.by, width: "130px", cell: ({ createdBy }) => createdBy },
  { id: "began", head: t.columns.began, width: "110px", cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** The background work that the signed-in user might have begun. */
export function Operations() {
  return (
    <Listing
      label={t.label}
      columns={columns}
      rowHeight={56}
      rows={(offset, limit) => ask(r.operations.list, { query: { sort: "id:DESC", offset, limit } })}
      pollMs={pollMs}
      empty={<Empty title={t.emptyTitle} text={t.emptyText} command="harrier operation list" />}
    />
  );
}
