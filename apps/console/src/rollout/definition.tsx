import type { RolloutView } from "@harrier/contracts";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { common, states, rollout as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { moment } from "../ui/format.ts";
import { Card, Facts } from "../ui/page.tsx";

const EditRollout = lazy(() => import("./edit-rollout.tsx").then(({ EditRollout: it }) => ({ default: it })));
const at = (value: number | undefined) => (value === undefined ? undefined : moment(value));

/** What was asked for when it was created, and who decided. */
export function Definition({ rollout }: { rollout: RolloutView }) {
  const { distributionSet: set, maintenanceWindow: window, targetFilterQuery: q } = rollout;
  const [editing, setEditing] = useState(false);
  const lacking = useLacking(r.rollouts.update);
  const button = (
    <Button small why={lacking && states.missing(lacking)} onClick={() => setEditing(true)}>
      {common.edit}
    </Button>
  );
  return (
    <Card title={t.tabs.definition} aside={button}>
      <Suspense>{editing && <EditRollout rolloutId={rollout.id} close={() => setEditing(false)} />}</Suspense>
      <Facts
        of={[
          [t.name, rollout.name],
          [t.set, set && `${set.name} ${set.version}`],
          [
            t.filter,
            <Link key="q" to="/devices" search={{ q }}>
              <code>{q}</code>
            </Link>,
          ],
          [t.description, rollout.description],
          [t.type, t.types[rollout.type]],
          [t.weight, String(rollout.weight)],
          [t.window, window && `${window.schedule} · ${window.duration} · ${window.timezone}`],
          [t.startAt, at(rollout.startAt)],
          [t.tabs.groups, rollout.dynamic ? t.dynamicText : undefined],
          [t.created, `${at(rollout.createdAt)} · ${rollout.createdBy}`],
          [
            t.decided,
            rollout.approveDecidedBy && `${rollout.approveDecidedBy}${rollout.approvalRemark ? ` · ${rollout.approvalRemark}` : ""}`,
          ],
          [t.started, at(rollout.startedAt)],
          [t.finished, at(rollout.finishedAt)],
        ]}
      />
    </Card>
  );
}
