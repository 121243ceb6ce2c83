import type { RolloutView } from "@harrier/contracts";
import { Link } from "@tanstack/react-router";
import { rollout as t } from "../text/en.ts";
import { moment } from "../ui/format.ts";
import { Card, Facts } from "../ui/page.tsx";

const at = (value: number | undefined) => (value === undefined ? undefined : moment(value));

/** What was asked for when it was created, and who decided. */
export function Definition({ rollout }: { rollout: RolloutView }) {
  const { distributionSet: set, maintenanceWindow: window, targetFilterQuery: q } = rollout;
  return (
    <Card>
      <Facts
        of={[
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
