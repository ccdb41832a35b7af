"""A guardrail for LiteLLM's proxy that keeps conversations inside the model's window.

It gives each request to a winnow gateway (POST /winnow/fit) and sends on what comes
back. Put this file beside LiteLLM's config.yaml:

    guardrails:
      - guardrail_name: winnow
        litellm_params:
          guardrail: winnow_guardrail.WinnowGuardrail
          mode: pre_call
          default_on: true
          api_base: http://127.0.0.1:8484   # of winnow serve; or WINNOW_GATEWAY
          # api_key: the gateway's key, where it was started with --keys; or WINNOW_KEY

A request that the gateway cannot make fit, or a gateway that does not answer, leaves
the request as it came and logs a warning: the provider decides then.
"""

import asyncio
import json
import logging
import os
import urllib.request

from litellm.integrations.custom_guardrail import CustomGuardrail

# The calls that hold a conversation, and the path of the API whose form they have.
PATHS = {
    "completion": "/v1/chat/completions",
    "acompletion": "/v1/chat/completions",
    "responses": "/v1/responses",
    "aresponses": "/v1/responses",
    "anthropic_messages": "/v1/messages",
}
# What a model sees. The rest of data is the proxy's own and is not sent.
MEMBERS = ("model", "messages", "input", "instructions", "system", "tools", "thinking",
           "max_tokens", "max_completion_tokens", "max_output_tokens")

log = logging.getLogger("winnow")


class WinnowGuardrail(CustomGuardrail):
    def __init__(self, api_base=None, api_key=None, timeout=30, **kwargs):
        base = api_base or os.getenv("WINNOW_GATEWAY") or "http://127.0.0.1:8484"
        self.url = base.rstrip("/") + "/winnow/fit"
        self.key = api_key or os.getenv("WINNOW_KEY")
        self.timeout = timeout
        super().__init__(**kwargs)

    async def async_pre_call_hook(self, user_api_key_dict, cache, data, call_type):
        path = PATHS.get(call_type)
        if path is None:
            return data
        body = {name: data[name] for name in MEMBERS if data.get(name) is not None}
        try:
            fitted = await asyncio.to_thread(self.fit, path, body, getattr(user_api_key_dict, "api_key", None))
        except Exception as err:  # the proxy must go on without the gateway
            log.warning("winnow: %s answers nothing that helps, so the request goes out as it came: %s", self.url, err)
            return data
        data.update(fitted)
        return data

    def fit(self, path, body, caller):
        headers = {"Content-Type": "application/json"}
        if caller:  # LiteLLM's own name of the key: conversations of two keys stay apart
            headers["Authorization"] = "Bearer " + caller
        if self.key:
            headers["Winnow-Key"] = self.key
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=self.timeout) as answer:
            return json.load(answer)
