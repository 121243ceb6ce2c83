import type { AutoAssignmentView, RolloutView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheckBig } from "lucide-react";
import { useState } from "react";
import { ask, r } from "../api/client.ts";
import { usePollMs } from "../api/live.ts";
import { useLacking } from "../api/permissions.ts";
import device from "../device/device.module.css";
import { AssignmentSteps } from "../filters/assignment-steps.tsx";
import { Decisions } from "../rollout/steps.tsx";
import { rollout as rolloutText, approvals as t } from "../text/en.ts";
import { buttonClass } from "../ui/button.tsx";
import { count, moment } from "../ui/format.ts";
import { ListBar } from "../ui/listing.tsx";
import { Card, Facts, Page } from "../ui/page.tsx";
import { Allowed } from "../ui/parts.tsx";
import { Empty, Failure, Skeleton } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";
import { Difference, useFresh } from "./fresh.tsx";

/** So many are shown, the oldest first; whoever decides sees the next. */
const shown = 25;
const waiting = { q: "status==waiting_for_approval", limit: shown, sort: "id:ASC" } as const;

/** What waits until somebody approves or denies it. */
export function ApprovalsPage() {
  return (
    <Page title={t.title}>
      <Allowed row={r.rollouts.list}>
        <Waiting />
      </Allowed>
    </Page>
  );
}

function Waiting() {
  const pollMs = usePollMs(10_000);
  const mayAssignments = useLacking(r.autoAssignments.list) === undefined;
  const rollouts = useQuery({ ...ask(r.rollouts.list, { query: { ...waiting, representation: "full" } }), refetchInterval: pollMs });
  const assignments = useQuery({
    ...ask(r.autoAssignments.list, { query: waiting }),
    refetchInterval: pollMs,
    enabled: mayAssignments,
  });
  const error = rollouts.error ?? assignments.error;
  if (rollouts.data === undefined || (mayAssignments && assignments.data === undefined)) {
    const again = () => void Promise.all([rollouts.refetch(), mayAssignments ? assignments.refetch() : undefined]);
    return error === null ? <Skeleton lines={6} /> : <Failure error={error} retry={again} />;
  }
  const others = assignments.data?.content ?? [];
  const [ofRollouts, ofOthers] = [rollouts.data.total ?? 0, assignments.data?.total ?? 0];
  if (ofRollouts + ofOthers === 0) return <Empty title={t.emptyTitle} text={t.emptyText} icon={CircleCheckBig} />;
  return (
    <>
      {rollouts.data.content.map((rollout) => (
        <RolloutCard key={rollout.id} rollout={rollout} />
      ))}
      {ofRollouts > shown && <p className="muted">{t.moreRollouts(ofRollouts - shown)}</p>}
      {others.map((assignment) => (
        <AssignmentCard key={assignment.id} assignment={assignment} />
      ))}
      {ofOthers > shown && <p className="muted">{t.moreAssignments(ofOthers - shown)}</p>}
    </>
  );
}

function RolloutCard({ rollout }: { rollout: RolloutView }) {
  const { id, name, description, distributionSet: set, targetFilterQuery: q, totalTargets, startAt } = rollout;
  return (
    <Card title={name} aside={<span className="muted">{t.by(rollout.createdBy, moment(rollout.createdAt))}</span>}>
      <div className={device["stack"]}>
        <Facts
          of={[
            [t.set, set && `${set.name} ${set.version}`],
            [t.size, count(totalTargets)],
            [
              t.filter,
              <Link key="q" to="/devices" search={{ q }}>
                <code>{q}</code>
              </Link>,
            ],
            [t.urgency, rolloutText.types[rollout.type]],
            [t.weight, rollout.weight],
            [t.startAt, startAt === undefined ? undefined : moment(startAt)],
            [t.description, description],
          ]}
        />
        <Difference rollout={rollout} />
        <Plan rollout={rollout} />
        <ListBar>
          <Link to="/rollouts/$rolloutId" params={{ rolloutId: String(id) }} search={{}} className={buttonClass("ghost")}>
            {t.look}
          </Link>
          <Decisions rollout={rollout} />
        </ListBar>
      </div>
    </Card>
  );
}

/** The groups of a rollout, which are asked for when they are opened. */
function Plan({ rollout }: { rollout: RolloutView }) {
  const [open, setOpen] = useState(false);
  return (
    <details open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t.plan}</summary>
      {open && <GroupTable rollout={rollout} />}
    </details>
  );
}

const groupsShown = 50;

/** Each group as it was made, and as it would be now. */
function GroupTable({ rollout }: { rollout: RolloutView }) {
  const rolloutId = rollout.id;
  const now = useFresh(rollout).data?.groups;
  const { data, error, refetch } = useQuery(ask(r.rollouts.listGroups, { params: { rolloutId }, query: { limit: groupsShown } }));
  if (data === undefined) return error === null ? <Skeleton lines={3} /> : <Failure error={error} retry={() => void refetch()} />;
  const more = (data.total ?? 0) - groupsShown;
  return (
    <Table columns={[t.group, t.size, now !== undefined && t.sizeNow, t.success, t.error]}>
      {data.content.map((group) => (
        <tr key={group.id}>
          <td>{group.name}</td>
          <td className="num">{count(group.totalTargets)}</td>
          {now !== undefined && <td className="num">{count(now.get(group.name) ?? 0)}</td>}
          <td className="num">{t.percent(group.successCondition.expression)}</td>
          <td className="num">{t.percent(group.errorCondition.expression)}</td>
        </tr>
      ))}
      {more > 0 && (
        <tr>
          <td colSpan={now === undefined ? 4 : 5}>{t.more(more)}</td>
        </tr>
      )}
    </Table>
  );
}

function AssignmentCard({ assignment }: { assignment: AutoAssignmentView }) {
  const { name, description, targetFilterQuery: q, distributionSetId, actionType, weight, startAt } = assignment;
  return (
    <Card
      title={`${t.assignment}: ${name}`}
      aside={<span className="muted">{t.by(assignment.createdBy, moment(assignment.createdAt))}</span>}
    >
      <div className={device["stack"]}>
        <Facts
          of={[
            [
              t.set,
              <Link key="set" to="/software/sets/$setId" params={{ setId: String(distributionSetId) }}>
                {String(distributionSetId)}
              </Link>,
            ],
            [
              t.filter,
              <Link key="q" to="/devices" search={{ q }}>
                <code>{q}</code>
              </Link>,
            ],
            [t.urgency, rolloutText.types[actionType]],
            [t.weight, weight],
            [t.startAt, startAt === undefined ? undefined : moment(startAt)],
            [t.description, description],
          ]}
        />
        <AssignmentSteps of={assignment} decisionsOnly />
      </div>
    </Card>
  );
}
