import type { TargetView } from "@harrier/contracts";
import { Link } from "@tanstack/react-router";
import { devices as t } from "../text/en.ts";
import type { Column } from "../ui/grid.tsx";
import { ActionStatus, Mark, Tag, TargetStatus } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { AttributeCell } from "./attribute-cell.tsx";
import { type ColumnId, isAttribute, keyOf } from "./devices.state.ts";

const setText = (set: { name: string; version: string } | undefined) =>
  set === undefined ? <span className="muted">–</span> : `${set.name} ${set.version}`;

/** The name of a device, which leads to it. */
export function DeviceLink({ controllerId, name }: { controllerId: string; name?: string | undefined }) {
  return (
    <>
      <Link to="/devices/$controllerId" params={{ controllerId }} search={{}} tabIndex={-1}>
        {name ?? controllerId}
      </Link>
      {name !== undefined && name !== controllerId && <span className="muted mono"> {controllerId}</span>}
    </>
  );
}

/** When a device polled last, and whether it is overdue. */
export function Poll({ poll }: { poll: TargetView["pollStatus"] }) {
  if (poll === undefined) return <span className="muted">{t.never}</span>;
  if (!poll.overdue) return <Time at={poll.lastRequestAt} />;
  return (
    <>
      <Mark tone="warn" sign="?" word={t.overdue} /> · <Time at={poll.lastRequestAt} />
    </>
  );
}

const cells: Readonly<Record<Exclude<ColumnId, `attribute.${string}`>, Omit<Column<TargetView>, "id" | "head">>> = {
  name: { width: "minmax(200px, 1.6fr)", sort: "name", cell: (row) => <DeviceLink {...row} /> },
  status: { width: "130px", sort: "updatestatus", cell: (row) => <TargetStatus status={row.updateStatus} /> },
  type: { width: "minmax(90px, 0.6fr)", cell: (row) => row.targetTypeName ?? <span className="muted">–</span> },
  installed: { width: "minmax(130px, 1fr)", cell: (row) => setText(row.installedSet) },
  assigned: { width: "minmax(130px, 1fr)", cell: (row) => setText(row.assignedSet) },
  action: { width: "190px", cell: (row) => row.openAction && <ActionStatus status={row.openAction.detailStatus} /> },
  poll: { width: "170px", sort: "lastcontrollerrequestat", cell: (row) => <Poll poll={row.pollStatus} /> },
  address: { width: "130px", sort: "ipaddress", cell: (row) => <span className="mono">{row.ipAddress}</span> },
  tags: { width: "minmax(140px, 1fr)", cell: (row) => row.tags?.map((tag) => <Tag key={tag.id} {...tag} />) },
};

/** The columns of lists of devices. */
export const deviceColumns = (ids: readonly ColumnId[]): Column<TargetView>[] =>
  ids.map((id) => {
    if (!isAttribute(id)) return { id, head: t.columns[id] ?? id, ...cells[id] };
    const key = keyOf(id);
    return { id, head: key, width: "minmax(110px, 0.8fr)", cell: (row) => <AttributeCell of={row.controllerId} name={key} /> };
  });
