import type { ArtifactView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { type DragEvent, useEffect, useRef, useState } from "react";
import { invalidate } from "../api/query-client.ts";
import { me } from "../api/session.ts";
import { software, uploads as t } from "../text/en.ts";
import { Button, buttonClass } from "../ui/button.tsx";
import { bytes, span } from "../ui/format.ts";
import { Facts } from "../ui/page.tsx";
import { Note, Refusal } from "../ui/states.tsx";
import { Mark } from "../ui/status.tsx";
import { headOf } from "./hash.ts";
import style from "./software.module.css";
import { forget, type Place, remember, unfinishedOf } from "./unfinished.state.ts";
import { Unfinished } from "./unfinished.tsx";
import { agreement, rateOf } from "./upload.state.ts";
import { uploadFile } from "./upload.ts";

/** The rate is that of so many parts. */
const samplesKept = 8;

interface Sent {
  readonly id: number;
  readonly file: File;
  /** The upload that it goes on with. */
  readonly resumed?: string;
}

/** Where files are dropped or chosen; each is sent by itself. Uploads that were begun before this page was opened can go on. */
export function Uploads({ moduleId, why }: { moduleId: number; why: string | undefined }) {
  const { data } = useQuery(me);
  return data === undefined ? null : (
    <UploadsOf key={moduleId} place={{ tenant: data.tenant, username: data.username, moduleId }} why={why} />
  );
}

function UploadsOf({ place, why }: { place: Place; why: string | undefined }) {
  const [files, setFiles] = useState<readonly Sent[]>([]);
  const [unfinished, setUnfinished] = useState(() => unfinishedOf(localStorage, place));
  const [over, setOver] = useState(false);
  const next = useRef(0);
  const add = (list: FileList | null) => setFiles((old) => [...old, ...Array.from(list ?? [], (file) => ({ id: next.current++, file }))]);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (why === undefined) add(event.dataTransfer.files);
  };
  const leave = (uploadId: string) => setUnfinished((old) => old.filter((one) => one.uploadId !== uploadId));
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
              leave(upload.uploadId);
              setFiles((old) => [...old, { id: next.current++, file, resumed: upload.uploadId }]);
            }}
            forget={() => {
              forget(localStorage, place, upload.uploadId);
              leave(upload.uploadId);
            }}
          />
        ))}
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
      {files.map(({ id, ...sent }) => (
        <Upload key={id} sent={sent} place={place} close={() => setFiles((old) => old.filter((one) => one.id !== id))} />
      ))}
    </>
  );
}

type State = "sending" | "hashing" | "done" | "failed";

/** A gate that can be closed: what waits for it goes on when it is opened. */
function makeGate() {
  let open: (() => void) | undefined;
  let closed: Promise<void> | undefined;
  return {
    wait: () => closed ?? Promise.resolve(),
    close: () => {
      closed ??= new Promise((resolve) => {
        open = resolve;
      });
    },
    open: () => {
      open?.();
      closed = undefined;
    },
  };
}

/** Sends the file when it is first shown, and gives it up when it is closed. */
function useUpload({ file, resumed }: Omit<Sent, "id">, place: Place) {
  const [state, setState] = useState<State>("sending");
  const [samples, setSamples] = useState([{ at: performance.now(), offset: 0 }]);
  const [result, setResult] = useState<{ artifact: ArtifactView; sha256: string | undefined }>();
  const [error, setError] = useState<unknown>();
  const [broken, setBroken] = useState(false);
  const gate = useRef(makeGate());
  const ending = useRef(new AbortController());
  const begun = useRef(false);
  const ended = useRef(false);
  useEffect(() => {
    if (begun.current) return;
    begun.current = true;
    const onOffset = (offset: number) => setSamples((old) => [...old, { at: performance.now(), offset }].slice(-samplesKept));
    uploadFile(place.moduleId, file, {
      resumed,
      onOpened: (uploadId) => {
        const { name, size } = file;
        void headOf(file).then((head) => !ended.current && remember(localStorage, place, { uploadId, name, size, head }));
      },
      onEnded: (uploadId) => {
        ended.current = true;
        forget(localStorage, place, uploadId);
      },
      onOffset,
      onHashing: () => setState("hashing"),
      onBroken: setBroken,
      gate: gate.current.wait,
      signal: ending.current.signal,
    }).then(
      (made) => {
        setResult(made);
        setState("done");
        void invalidate("artifacts", "softwareModules", "distributionSets");
      },
      (thrown) => {
        setError(thrown);
        setState("failed");
      },
    );
  }, [file, resumed, place]);
  return { state, samples, result, error, broken, gate: gate.current, cancel: () => ending.current.abort() };
}

function Upload({ sent, place, close }: { sent: Omit<Sent, "id">; place: Place; close: () => void }) {
  const { file } = sent;
  const { state, samples, result, error, broken, gate, cancel } = useUpload(sent, place);
  const [paused, setPaused] = useState(false);
  const offset = samples.at(-1)?.offset ?? 0;
  const rate = rateOf(samples, file.size);
  const toggle = () => {
    if (paused) gate.open();
    else gate.close();
    setPaused(!paused);
  };
  const stop = () => {
    cancel();
    gate.open();
    close();
  };
  const words =
    rate === undefined ? bytes(file.size) : t.sending(bytes(offset), bytes(file.size), bytes(rate.perSecond), span(rate.leftMs));
  return (
    <div className={style["upload"]}>
      <div className={style["uploadHead"]}>
        <b>{file.name}</b>
        <span className="muted num">{state === "sending" ? (paused ? t.paused : words) : t[state === "hashing" ? "hashing" : state]}</span>
        {state === "sending" && (
          <Button small onClick={toggle}>
            {paused ? t.resume : t.pause}
          </Button>
        )}
        <Button small look="ghost" onClick={state === "sending" || state === "hashing" ? stop : close}>
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
