import type { DistributionSetView } from "@harrier/contracts";
import { useQueries, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { GitCompare } from "lucide-react";
import type { ReactNode } from "react";
import { type Asked, ask, r } from "../api/client.ts";
import { commands, software, comparison as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Check } from "../ui/field.tsx";
import { bytes } from "../ui/format.ts";
import { Card, Page } from "../ui/page.tsx";
import { SetChoice } from "../ui/set-choice.tsx";
import { Empty, Failure, Skeleton } from "../ui/states.tsx";
import { Mark } from "../ui/status.tsx";
import table from "../ui/table.module.css";
import {
  type Difference,
  differenceOf,
  type File,
  type Pair,
  type Part,
  pairFiles,
  pairModules,
  sameFile,
  sameModule,
} from "./compare.state.ts";
import style from "./software.module.css";
import { SoftwareState } from "./state.tsx";

const route = getRouteApi("/in/software/compare");

/** Two distribution sets side by side. */
export function ComparePage() {
  const { a = "", b = "", only } = route.useSearch();
  const navigate = route.useNavigate();
  const choose = (part: { a?: string; b?: string; only?: string | undefined }) =>
    void navigate({ search: (old) => ({ ...old, ...part }), replace: true });
  return (
    <Page
      title={t.title}
      sub={t.text}
      trail={
        <Link to="/software" search={{}}>
          {software.title}
        </Link>
      }
      {...(a !== "" && {
        api: {
          row: r.distributionSets.get,
          params: { distributionSetId: a },
          command: commands.of("set", "compare", ...[a, b].filter((id) => id !== "")),
        },
      })}
      actions={<Button onClick={() => choose({ a: b, b: a })}>{t.swap}</Button>}
    >
      <div className={style["two"]}>
        <SetChoice any label={t.first} value={a} onChange={(id) => choose({ a: id })} />
        <SetChoice any label={t.second} value={b} onChange={(id) => choose({ b: id })} />
      </div>
      {a === "" || b === "" ? (
        <Empty title={t.choose} text={t.chooseText} icon={GitCompare} />
      ) : (
        <>
          <Check
            label={t.onlyDifferences}
            checked={only !== undefined}
            onChange={(on) => choose({ only: on ? "differences" : undefined })}
          />
          <Compared a={a} b={b} only={only !== undefined} />
        </>
      )}
    </Page>
  );
}

const setOf = (distributionSetId: string): Asked<DistributionSetView> => ask(r.distributionSets.get, { params: { distributionSetId } });

function Compared({ a, b, only }: { a: string; b: string; only: boolean }) {
  const first = useQuery(setOf(a));
  const second = useQuery(setOf(b));
  const error = first.error ?? second.error;
  if (first.data !== undefined && second.data !== undefined) return <Table first={first.data} second={second.data} only={only} />;
  if (error === null) return <Skeleton lines={6} />;
  return <Failure error={error} retry={() => void (first.error === null ? second.refetch() : first.refetch())} />;
}

interface TableProps {
  readonly first: DistributionSetView;
  readonly second: DistributionSetView;
  readonly only: boolean;
}

function Table({ first, second, only }: TableProps) {
  const pairs = pairModules(first.modules, second.modules);
  const typeOf = (set: DistributionSetView) => set.typeName ?? set.type;
  const step = (set: DistributionSetView) => (set.requiredMigrationStep ? software.yes : "–");
  const heading = (set: DistributionSetView) => (
    <Link to="/software/sets/$setId" params={{ setId: String(set.id) }}>
      {set.name} {set.version}
    </Link>
  );
  return (
    <Card plain>
      <div className={style["scrolls"]}>
        <table className={table["table"]} aria-label={t.title}>
          <thead>
            <tr>
              <th>{t.part}</th>
              <th>{heading(first)}</th>
              <th>{heading(second)}</th>
              <th>{t.difference}</th>
            </tr>
          </thead>
          <tbody>
            <Row only={only} part={software.type} first={typeOf(first)} second={typeOf(second)} />
            <Row only={only} part={software.requiredStep} first={step(first)} second={step(second)} />
            <tr>
              <td>{t.state}</td>
              <td>
                <SoftwareState {...first} />
              </td>
              <td>
                <SoftwareState {...second} />
              </td>
              <td />
            </tr>
            <Modules pairs={pairs} only={only} />
          </tbody>
        </table>
      </div>
    </Card>
  );
}

const filesOf = (module: Part | undefined): Asked<readonly File[]> => {
  const { queryKey, queryFn } = ask(r.artifacts.list, { params: { softwareModuleId: module?.id ?? 0 } });
  return {
    queryKey: [...queryKey, "files"],
    queryFn: async (context) =>
      module === undefined
        ? []
        : (await queryFn(context)).map(({ providedFilename, size, hashes }) => ({ name: providedFilename, size, sha256: hashes.sha256 })),
  };
};

/** The modules, each with its files; those of a module that both sets hold are the same. */
function Modules({ pairs, only }: { pairs: readonly Pair<Part>[]; only: boolean }) {
  const isShared = (pair: Pair<Part>) => differenceOf(pair, sameModule) === "same";
  const different = pairs.filter((pair) => !isShared(pair));
  const files = useQueries({ queries: different.flatMap(({ first, second }) => [filesOf(first), filesOf(second)]) });
  if (only && different.length === 0) {
    return (
      <tr>
        <td colSpan={4}>{t.identical}</td>
      </tr>
    );
  }
  return pairs.map((pair) => {
    const at = different.indexOf(pair) * 2;
    const [first, second] = [files[at], files[at + 1]];
    const { type, typeName } = (pair.first ?? pair.second) as Part;
    return [
      <Row
        key={`${pair.first?.id} ${pair.second?.id}`}
        only={only}
        part={typeName ?? type}
        first={pair.first && <ModuleName of={pair.first} />}
        second={pair.second && <ModuleName of={pair.second} />}
        is={differenceOf(pair, sameModule)}
      />,
      at >= 0 && <Files key={`files of ${pair.first?.id} ${pair.second?.id}`} first={first} second={second} only={only} />,
    ];
  });
}

interface Read {
  readonly data?: readonly File[] | undefined;
  readonly error: Error | null;
  readonly refetch: () => unknown;
}

function Files({ first, second, only }: { first: Read | undefined; second: Read | undefined; only: boolean }) {
  if (first?.data !== undefined && second?.data !== undefined) {
    return pairFiles(first.data, second.data).map((pair) => (
      <Row
        key={`${pair.first?.name} ${pair.second?.name}`}
        only={only}
        part={t.file((pair.first ?? pair.second)?.name ?? "")}
        first={pair.first && <FileText of={pair.first} />}
        second={pair.second && <FileText of={pair.second} />}
        is={differenceOf(pair, sameFile)}
      />
    ));
  }
  const failed = [first, second].find((one) => one !== undefined && one.error !== null);
  return (
    <tr>
      <td colSpan={4}>
        {failed === undefined ? <Skeleton lines={1} /> : <Failure error={failed.error} retry={() => void failed.refetch()} />}
      </td>
    </tr>
  );
}

interface RowProps {
  readonly part: string;
  readonly first: ReactNode;
  readonly second: ReactNode;
  /** How both differ; without it the texts are compared. */
  readonly is?: Difference;
  readonly only: boolean;
}

const signs = {
  same: { tone: "wait", sign: "=" },
  changed: { tone: "warn", sign: "≠" },
  onlyFirst: { tone: "bad", sign: "−" },
  onlySecond: { tone: "ok", sign: "+" },
} as const;

function Row({ part, first, second, is = first === second ? "same" : "changed", only }: RowProps) {
  if (only && is === "same") return null;
  return (
    <tr>
      <td>{part}</td>
      <td>{first ?? <span className="muted">–</span>}</td>
      <td>{second ?? <span className="muted">–</span>}</td>
      <td>
        <Mark pill={false} {...signs[is]} word={t[is]} />
      </td>
    </tr>
  );
}

function ModuleName({ of: { id, name, version } }: { of: Part }) {
  return (
    <Link to="/software/modules/$moduleId" params={{ moduleId: String(id) }}>
      {name} {version}
    </Link>
  );
}

function FileText({ of: { name, size, sha256 } }: { of: File }) {
  return (
    <>
      <div>{name}</div>
      <div className="muted num">{bytes(size)}</div>
      <code title={sha256}>{`${sha256.slice(0, 16)}…`}</code>
    </>
  );
}
