import { useQuery } from "@tanstack/react-query";
import { type DragEvent, useState } from "react";
import { r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { me } from "../api/session.ts";
import { software, uploads as t } from "../text/en.ts";
import { Button, buttonClass } from "../ui/button.tsx";
import { bytes, span } from "../ui/format.ts";
import { Facts } from "../ui/page.tsx";
import { Note, Refusal } from "../ui/states.tsx";
import { Mark } from "../ui/status.tsx";
import { dismissUpload, pauseUpload, type Running, startUpload, useRunning } from "./running-uploads.ts";
import style from "./software.module.css";
import { forget, type Place, unfinishedOf } from "./unfinished.state.ts";
import { Unfinished } from "./unfinished.tsx";
import { agreement, rateOf } from "./upload.state.ts";
import { UploadsElsewhere } from "./uploads-elsewhere.tsx";

/** Where files are dropped or chosen; each is sent by itself. Uploads that were begun before this page was opened can go on. */
export function Uploads({ moduleId, why }: { moduleId: number; why: string | undefined }) {
  const { data } = useQuery(me);
  return data === undefined ? null : (
    <UploadsOf key={moduleId} place={{ tenant: data.tenant, username: data.username, moduleId }} why={why} />
  );
}

function UploadsOf({ place, why }: { place: Place; why: string | undefined }) {
  const running = useRunning(place);
  const lacking = useLacking(r.artifactUploads.list);
  const [left, setLeft] = useState<readonly string[]>([]);
  const [over, setOver] = useState(false);
  const add = (list: FileList | null) => {
    for (const file of list ?? []) startUpload(place, file);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (why === undefined) add(event.dataTransfer.files);
  };
  // What this tab sends is below; what it could not finish is offered once more, as after a reload.
  const sent = new Set(running.flatMap(({ uploadId, state }) => (uploadId === undefined || state === "failed" ? [] : [uploadId])));
  const kept = unfinishedOf(localStorage, place);
  const unfinished = kept.filter(({ uploadId }) => !sent.has(uploadId) && !left.includes(uploadId));
  const known = new Set([...left, ...kept.map(({ uploadId }) => uploadId), ...running.map(({ uploadId = "" }) => uploadId)]);
  return (
    <>
      {why === undefined && unfinished.length > 0 && <h2 className="muted">{t.unfinished}</h2>}
      {why === undefined &&
        unfinished.map((upload) => (
          <Unfinished
            key={upload.uploadId}
            moduleId={place.moduleId}
            upload={upload}
            goOn={(file) => {
              for (const { id, uploadId } of running) if (uploadId === upload.uploadId) dismissUpload(id);
              startUpload(place, file, upload.uploadId);
            }}
            forget={() => {
              forget(localStorage, place, upload.uploadId);
              setLeft([...left, upload.uploadId]);
              void invalidate("artifactUploads");
            }}
          />
        ))}
      {lacking === undefined && <UploadsElsewhere moduleId={place.moduleId} known={known} />}
      {why === undefined ? (
        // biome-ignore lint/a11y/noStaticElementInteractions: dropping is one more way; the button beside it does the same
        <div
          className={style["drop"]}
          data-over={over}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={drop}
        >
          {software.dropHere}
          <label className={style["pick"]}>
            <span className={buttonClass()}>{software.chooseFile}</span>
            <input type="file" multiple aria-label={software.chooseFile} onChange={(event) => add(event.target.files)} />
          </label>
        </div>
      ) : (
        <p className="muted">{why}</p>
      )}
      {running.map((one) => (
        <Upload key={one.id} upload={one} />
      ))}
    </>
  );
}

function Upload({ upload: { id, file, state, samples, result, error, broken, paused } }: { upload: Running }) {
  const offset = samples.at(-1)?.offset ?? 0;
  const rate = rateOf(samples, file.size);
  const words =
    rate === undefined ? bytes(file.size) : t.sending(bytes(offset), bytes(file.size), bytes(rate.perSecond), span(rate.leftMs));
  return (
    <div className={style["upload"]}>
      <div className={style["uploadHead"]}>
        <b>{file.name}</b>
        <span className="muted num">{state === "sending" ? (paused ? t.paused : words) : t[state === "hashing" ? "hashing" : state]}</span>
        {state === "sending" && (
          <Button small onClick={() => pauseUpload(id, !paused)}>
            {paused ? t.resume : t.pause}
          </Button>
        )}
        <Button small look="ghost" onClick={() => dismissUpload(id)}>
          {state === "sending" ? t.cancel : t.dismiss}
        </Button>
      </div>
      {state !== "done" && <progress max={file.size} value={offset} aria-label={t.progress(file.name)} />}
      {broken && state === "sending" && <Note tone="warn">{t.broken}</Note>}
      <Refusal error={error} />
      {result !== undefined && <Hashes file={result.sha256} server={result.artifact.hashes.sha256} />}
    </div>
  );
}

/** What the file has and what the server has, which must be the same. */
function Hashes({ file, server }: { file: string | undefined; server: string }) {
  const verdict = agreement(file, server);
  return (
    <>
      <Mark
        tone={verdict === "agree" ? "ok" : verdict === "differ" ? "bad" : "warn"}
        sign={verdict === "agree" ? "✓" : verdict === "differ" ? "✕" : "?"}
        word={t[verdict]}
      />
      <Facts
        of={[
          [t.file, file && <code key="file">{file}</code>],
          [t.server, <code key="server">{server}</code>],
        ]}
      />
    </>
  );
}
