import type { SystemStatusView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { ask, r } from "../api/client.ts";
import { system } from "../text/en.ts";
import { count, moment } from "../ui/format.ts";
import { Card } from "../ui/page.tsx";
import { Scroll } from "../ui/scroll.tsx";
import { Failure, Skeleton } from "../ui/states.tsx";
import { Mark } from "../ui/status.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

const t = system.status;
const pollMs = 10_000;

/** The processes of the installation, their background jobs and what waits. */
export function Status() {
  const { data, error, refetch } = useQuery({ ...ask(r.systemStatus.get), refetchInterval: pollMs });
  if (data === undefined) return error === null ? <Skeleton lines={8} /> : <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      <p className="muted">{t.at(moment(data.at))}</p>
      <Nodes nodes={data.nodes} />
      <Queues queues={data.queues} />
      {data.nodes
        .filter(({ jobs }) => jobs.length > 0)
        .map((node) => (
          <Jobs key={node.id} node={node} />
        ))}
    </>
  );
}

type Node = SystemStatusView["nodes"][number];

function Nodes({ nodes }: { nodes: readonly Node[] }) {
  return (
    <Card title={t.nodes} plain>
      <Scroll>
        <Table columns={[t.columns.service, t.columns.host, t.columns.version, t.columns.since, t.columns.seen, t.columns.state]}>
          {nodes.map(({ id, service, host, version, startedAt, seenAt, up, outboxWaitingSince: since }) => (
            <tr key={id}>
              <td>{service}</td>
              <td className="mono">{host}</td>
              <td className="mono">{version}</td>
              <td>
                <Time at={startedAt} />
              </td>
              <td>
                <Time at={seenAt} />
              </td>
              <td>
                <Mark tone={up ? "ok" : "bad"} sign={up ? "✓" : "?"} word={up ? t.up : t.silent} />
                {since !== undefined && <div className="muted">{t.outbox(moment(since))}</div>}
              </td>
            </tr>
          ))}
        </Table>
      </Scroll>
    </Card>
  );
}

function Queues({ queues }: Pick<SystemStatusView, "queues">) {
  if (queues.length === 0) {
    return (
      <Card title={t.queues}>
        <p className="muted">{t.noQueues}</p>
      </Card>
    );
  }
  return (
    <Card title={t.queues} plain>
      <Scroll>
        <Table columns={[t.queueColumns.kind, t.queueColumns.waiting, t.queueColumns.failing, t.queueColumns.oldest]}>
          {queues.map(({ kind, waiting, failing, oldestAt }) => (
            <tr key={kind}>
              <td className="mono">{kind}</td>
              <td className="num">{count(waiting)}</td>
              <td className="num">{count(failing)}</td>
              <td>
                <Time at={oldestAt} />
              </td>
            </tr>
          ))}
        </Table>
      </Scroll>
    </Card>
  );
}

function Jobs({ node: { service, host, jobs } }: { node: Node }) {
  return (
    <Card title={`${t.jobs}: ${service} · ${host}`} plain>
      <Scroll>
        <Table columns={[t.jobColumns.job, t.jobColumns.ran, t.jobColumns.backlog, t.jobColumns.failures]}>
          {jobs.map(({ name, lastRunAt, failures, lastError, backlog }) => (
            <tr key={name}>
              <td className="mono">{name}</td>
              <td>
                <Time at={lastRunAt} />
              </td>
              <td className="num">{backlog !== undefined && count(backlog)}</td>
              <td>
                <span className="num">{count(failures)}</span>
                {lastError !== undefined && <div className="muted">{lastError}</div>}
              </td>
            </tr>
          ))}
        </Table>
      </Scroll>
    </Card>
  );
}
