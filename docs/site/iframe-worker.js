// Browsers start no workers from file://, where the search then runs in a hidden frame.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "Search";
      this.loaded = new Promise((done) => frame.addEventListener("load", () => done(frame.contentWindow)));
      frame.srcdoc = `<script>postMessage = (data) => parent.postMessage({ searched: data }, "*");<\/script><script src="${url}"><\/script>`;
      addEventListener("message", ({ data, source }) => {
        if (source === frame.contentWindow) this.dispatchEvent(new MessageEvent("message", { data: data.searched }));
      });
      document.body.append(frame);
    }
    async postMessage(data) {
      (await this.loaded).dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}
