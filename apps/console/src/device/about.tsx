import type { TargetView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { ask, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { states, device as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Card, Facts } from "../ui/page.tsx";
import { Refusal } from "../ui/states.tsx";
import { Tag } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import style from "./device.module.css";

const TypeDialog = lazy(() => import("./labels.tsx").then(({ TypeDialog: it }) => ({ default: it })));
const DeviceTags = lazy(() => import("./labels.tsx").then(({ DeviceTags: it }) => ({ default: it })));

/** What is known of the device, of which type and tags can be changed here. */
export function About({ target }: { target: TargetView }) {
  const [dialog, setDialog] = useState<"type" | "tags">();
  const lacksTags = useLacking(r.targets.tags);
  const tags = useQuery({ ...ask(r.targets.tags, { params: { targetId: target.controllerId } }), enabled: lacksTags === undefined });
  const lacksType = useLacking(r.targets.setType);
  const lacksAssign = useLacking(r.targetTags.assignOne) ?? lacksTags;
  const close = () => setDialog(undefined);
  const facts: Parameters<typeof Facts>[0]["of"] = [
    [t.id, <code key="id">{target.controllerId}</code>],
    [t.type, target.targetTypeName],
    [t.group, target.group],
    [t.address, target.address && <span className="mono">{target.address}</span>],
    [t.tags, tags.data?.length ? tags.data.map(({ id, name, colour }) => <Tag key={id} name={name} colour={colour} />) : undefined],
    [t.description, target.description],
    [t.created, <Time key="at" at={target.createdAt} />],
  ];
  return (
    <Card title={t.facts}>
      <Facts of={facts} />
      {tags.data === undefined && tags.error !== null && <Refusal error={tags.error} />}
      <div className={style["buttons"]}>
        <Button small why={lacksType && states.missing(lacksType)} onClick={() => setDialog("type")}>
          {t.setType}
        </Button>
        <Button
          small
          why={lacksAssign === undefined ? (tags.data === undefined ? states.loading : undefined) : states.missing(lacksAssign)}
          onClick={() => setDialog("tags")}
        >
          {t.setTags}
        </Button>
      </div>
      <Suspense>
        {dialog === "type" && <TypeDialog target={target} close={close} />}
        {dialog === "tags" && <DeviceTags targetId={target.controllerId} has={tags.data?.map(({ id }) => id) ?? []} close={close} />}
      </Suspense>
    </Card>
  );
}
