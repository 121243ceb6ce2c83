import type { TargetView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { ask, change, r } from "../api/client.ts";
import { usePollMs } from "../api/live.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { AssignDialog } from "../devices/chosen.tsx";
import { commands, devices, states, device as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Page } from "../ui/page.tsx";
import { Failure, Skeleton } from "../ui/states.tsx";
import { Mark, TargetStatus } from "../ui/status.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { Time, useNow } from "../ui/time.tsx";
import { toast } from "../ui/toast.tsx";
import { AccessTab } from "./access-tab.tsx";
import { AttributesTab } from "./attributes-tab.tsx";
import { EditDevice } from "./edit-device.tsx";
import { HistoryTab } from "./history-tab.tsx";
import { MetadataTab } from "./metadata-tab.tsx";
import { NowTab } from "./now-tab.tsx";

const route = getRouteApi("/in/devices/$controllerId");

/** One device: what it does now, what it did, and what is known of it. */
export function DevicePage() {
  const { controllerId: targetId } = route.useParams();
  const { tab = "now" } = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery({ ...ask(r.targets.get, { params: { targetId } }), refetchInterval: usePollMs(4_000) });
  const mayMeta = useLacking(r.targets.listMetadata) === undefined;
  if (data === undefined) return error === null ? <Skeleton lines={10} /> : <Failure alone error={error} retry={() => void refetch()} />;
  const tabs = [
    { id: "now", label: t.tabs["now"] ?? "", body: <NowTab target={data} /> },
    { id: "history", label: t.tabs["history"] ?? "", body: <HistoryTab targetId={targetId} /> },
    { id: "attributes", label: t.tabs["attributes"] ?? "", body: <AttributesTab target={data} /> },
    ...(mayMeta ? [{ id: "metadata", label: t.tabs["metadata"] ?? "", body: <MetadataTab targetId={targetId} /> }] : []),
    { id: "access", label: t.tabs["access"] ?? "", body: <AccessTab target={data} /> },
  ];
  return (
    <Page
      title={data.name}
      api={{ row: r.targets.get, params: { targetId }, command: commands.of("target", "get", targetId) }}
      trail={
        <Link to="/devices" search={{}}>
          {devices.title}
        </Link>
      }
      beside={<TargetStatus status={data.updateStatus} pill />}
      sub={<PollLine target={data} />}
      actions={<Actions target={data} />}
    >
      <Tabs
        label={t.tabList}
        value={tab}
        tabs={tabs}
        onChange={(id) => void navigate({ search: { tab: id === "now" ? undefined : id }, replace: true })}
      />
    </Page>
  );
}

function PollLine({ target: { name, controllerId, pollStatus: poll } }: { target: TargetView }) {
  const id = name !== controllerId && (
    <>
      <span className="mono">{controllerId}</span>
      {" · "}
    </>
  );
  const now = useNow();
  if (poll === undefined) {
    return (
      <>
        {id}
        {t.pollNever}
      </>
    );
  }
  return (
    <>
      {id}
      {t.polled} <Time at={poll.lastRequestAt} />
      {" · "}
      {poll.overdue ? (
        <Mark tone="warn" sign="?" word={devices.overdue} />
      ) : poll.nextExpectedRequestAt < now ? (
        t.dueSince
      ) : (
        t.due.toLowerCase()
      )}{" "}
      {!poll.overdue && <Time at={poll.nextExpectedRequestAt} />}
    </>
  );
}

function Actions({
  target,
}: {
  target: { controllerId: string; name: string; description?: string | undefined; group?: string | undefined };
}) {
  const [dialog, setDialog] = useState<"assign" | "edit">();
  const navigate = route.useNavigate();
  const assign = useLacking(r.distributionSets.assignTargets);
  const edit = useLacking(r.targets.update);
  const remove = useLacking(r.targets.delete);
  const why = (missing: string | undefined) => missing && states.missing(missing);
  const run = async () => {
    await change(r.targets.delete, { params: { targetId: target.controllerId } });
    toast(devices.deleted(1));
    await navigate({ to: "/devices", search: {} });
    await invalidate("targets");
  };
  return (
    <>
      <Button look="primary" why={why(assign)} onClick={() => setDialog("assign")}>
        {t.assign}
      </Button>
      <Button why={why(edit)} onClick={() => setDialog("edit")}>
        {t.edit}
      </Button>
      <Confirm
        look="danger"
        why={why(remove)}
        trigger={t.delete}
        title={devices.deleteTitle(1)}
        text={t.deleteText}
        button={t.delete}
        run={run}
      />
      {dialog === "assign" && <AssignDialog ids={[target.controllerId]} close={() => setDialog(undefined)} />}
      {dialog === "edit" && <EditDevice targetId={target.controllerId} close={() => setDialog(undefined)} />}
    </>
  );
}
