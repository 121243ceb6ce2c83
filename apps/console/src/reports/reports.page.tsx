import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type Asked, ask, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import device from "../device/device.module.css";
import { states, reports as t } from "../text/en.ts";
import { Field } from "../ui/field.tsx";
import { bytes, count } from "../ui/format.ts";
import { Card, Page } from "../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";
import { Monthly } from "./monthly.tsx";
import { type Month, monthOf, type Series } from "./reports.state.ts";

const route = getRouteApi("/in/reports");

type Counted = Month & { readonly count?: number | undefined };
type Bytes = Month & { readonly bytes?: number | undefined };
type Ended = Counted & { readonly perStatus?: Readonly<Record<"finished" | "error" | "canceled", number>> | undefined };

// They stay the same objects, so that a chart is not drawn anew each time.
const countOf = (label: string): readonly Series<Counted>[] => [{ label, colour: "--fill-run", value: (row) => row.count }];
const devicesOf = countOf(t.series.devices);
const rolloutsOf = countOf(t.series.rollouts);
const bytesOf: readonly Series<Bytes>[] = [{ label: t.series.bytes, colour: "--fill-run", value: (row) => row.bytes }];
const actionsOf: readonly Series<Ended>[] = [
  { label: t.series.created, colour: "--fill-run", value: (row) => row.count },
  { label: t.series.finished, colour: "--fill-ok", value: (row) => row.perStatus?.finished },
  { label: t.series.error, colour: "--fill-bad", value: (row) => row.perStatus?.error },
  { label: t.series.canceled, colour: "--muted", value: (row) => row.perStatus?.canceled },
];

/** The fleet, its traffic and its updates by month. */
export function ReportsPage() {
  const { from, to } = route.useSearch();
  const query = { startMonth: monthOf(from), endMonth: monthOf(to) };
  const targets = useLacking(r.insights.monthlyTargets);
  const repository = useLacking(r.insights.monthlyActions);
  return (
    <Page title={t.title}>
      <Range />
      {targets !== undefined && repository !== undefined && <Empty title={states.forbidden} text={states.missing(targets)} />}
      {repository === undefined && (
        <>
          <Monthly title={t.actions} asked={ask(r.insights.monthlyActions, { query })} series={actionsOf} format={count} />
          <Monthly title={t.rollouts} asked={ask(r.insights.monthlyRollouts, { query })} series={rolloutsOf} format={count} />
        </>
      )}
      {targets === undefined && (
        <>
          <Monthly title={t.targets} asked={ask(r.insights.monthlyTargets, { query })} series={devicesOf} format={count} />
          <Monthly title={t.traffic} asked={ask(r.insights.dataTraffic, { query })} series={bytesOf} format={bytes} />
          <Monthly title={t.storage} asked={ask(r.insights.artifactStorage, { query })} series={bytesOf} format={bytes} />
        </>
      )}
      {repository === undefined && (
        <>
          <Top title={t.installed} asked={ask(r.insights.topInstalled)} />
          <Top title={t.assigned} asked={ask(r.insights.topAssigned)} />
        </>
      )}
    </Page>
  );
}

/** The first and the last month; without them the server chooses. */
function Range() {
  const { from, to } = route.useSearch();
  const navigate = route.useNavigate();
  const set = (name: "from" | "to") => (text: string) =>
    void navigate({ search: (old) => ({ ...old, [name]: text === "" ? undefined : text }), replace: true });
  const problem = (text: string | undefined) => (text === undefined || monthOf(text) !== undefined ? undefined : t.wrongMonth);
  return (
    <div className={device["buttons"]}>
      <Field label={t.from} type="month" placeholder={t.monthHint} value={from ?? ""} error={problem(from)} onChange={set("from")} />
      <Field label={t.to} type="month" placeholder={t.monthHint} value={to ?? ""} error={problem(to)} onChange={set("to")} />
    </div>
  );
}

interface Counts {
  readonly id: number;
  readonly name: string;
  readonly version: string;
  readonly count: number;
}

function Top({ title, asked }: { title: string; asked: Asked<readonly Counts[]> }) {
  const { data, error, refetch } = useQuery(asked);
  return (
    <Card title={title} plain={data !== undefined && data.length > 0}>
      {data === undefined && (error === null ? <Skeleton lines={3} /> : <Failure error={error} retry={() => void refetch()} />)}
      {data?.length === 0 && <p className="muted">{t.noSets}</p>}
      {data !== undefined && data.length > 0 && (
        <Table>
          {data.map(({ id, name, version, count: many }) => (
            <tr key={id}>
              <td>
                <Link to="/software/sets/$setId" params={{ setId: String(id) }}>
                  {`${name} ${version}`}
                </Link>
              </td>
              <td className="num">{t.devices(many)}</td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  );
}
