import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.eclipse.hawkbit.dmf.amqp.api.AmqpSettings;
import org.eclipse.hawkbit.dmf.amqp.api.EventTopic;
import org.eclipse.hawkbit.dmf.amqp.api.MessageHeaderKey;
import org.eclipse.hawkbit.dmf.amqp.api.MessageType;
import org.eclipse.hawkbit.dmf.json.model.DmfActionRequest;
import org.eclipse.hawkbit.dmf.json.model.DmfActionStatus;
import org.eclipse.hawkbit.dmf.json.model.DmfActionUpdateStatus;
import org.eclipse.hawkbit.dmf.json.model.DmfArtifact;
import org.eclipse.hawkbit.dmf.json.model.DmfAttributeUpdate;
import org.eclipse.hawkbit.dmf.json.model.DmfCreateThing;
import org.eclipse.hawkbit.dmf.json.model.DmfDownloadAndUpdateRequest;
import org.eclipse.hawkbit.dmf.json.model.DmfMultiActionRequest;
import org.eclipse.hawkbit.dmf.json.model.DmfSoftwareModule;
import org.eclipse.hawkbit.dmf.json.model.DmfUpdateMode;
import org.springframework.amqp.core.BindingBuilder;
import org.springframework.amqp.core.FanoutExchange;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageProperties;
import org.springframework.amqp.core.Queue;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitAdmin;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;
import org.springframework.amqp.support.converter.AbstractJavaTypeMapper;
import org.springframework.amqp.support.converter.Jackson2JsonMessageConverter;

/**
 * Things that speak by hawkBit's own library for DMF and Spring AMQP: it reads and writes each message by the classes of the library. Arguments: the
 * address of the virtual host, the tenant, the reply exchange, and the ids of things. It says each message that it has read in a line of JSON, removes
 * each thing that a line of its input names, and ends when its input does.
 */
public final class DmfClient {
  private static final ObjectMapper JSON = new ObjectMapper();
  private final Jackson2JsonMessageConverter converter = new Jackson2JsonMessageConverter();
  private final HttpClient http = HttpClient.newHttpClient();
  private final Set<Long> obeyed = new HashSet<>();
  private final RabbitTemplate template;
  private final String tenant;
  private final String exchange;

  private DmfClient(RabbitTemplate template, String tenant, String exchange) {
    this.template = template;
    this.tenant = tenant;
    this.exchange = exchange;
    template.setExchange(AmqpSettings.DMF_EXCHANGE);
    template.setMessageConverter(converter);
  }

  public static void main(String[] args) throws Exception {
    CachingConnectionFactory connections = new CachingConnectionFactory(URI.create(args[0]));
    DmfClient client = new DmfClient(new RabbitTemplate(connections), args[1], args[2]);
    Queue queue = new Queue(args[2] + ".queue", true);
    FanoutExchange replies = new FanoutExchange(args[2]);
    RabbitAdmin admin = new RabbitAdmin(connections);
    admin.declareExchange(replies);
    admin.declareQueue(queue);
    admin.declareBinding(BindingBuilder.bind(queue).to(replies));
    SimpleMessageListenerContainer listener = new SimpleMessageListenerContainer(connections);
    listener.setQueues(queue);
    listener.setMessageListener(client::read);
    listener.start();
    for (int n = 3; n < args.length; n++) client.register(args[n]);
    client.ping();
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    for (String id = input.readLine(); id != null; id = input.readLine()) client.remove(id);
    listener.stop();
    connections.destroy();
  }

  private MessageProperties headers(MessageType type, String thingId, EventTopic topic) {
    MessageProperties properties = new MessageProperties();
    properties.setContentType(MessageProperties.CONTENT_TYPE_JSON);
    properties.setReplyTo(exchange);
    properties.setHeader(MessageHeaderKey.TYPE, type.toString());
    properties.setHeader(MessageHeaderKey.TENANT, tenant);
    properties.setHeader(MessageHeaderKey.SENDER, "simulator");
    if (thingId != null) properties.setHeader(MessageHeaderKey.THING_ID, thingId);
    if (topic != null) properties.setHeader(MessageHeaderKey.TOPIC, topic.toString());
    return properties;
  }

  private void register(String thingId) {
    if (!thingId.contains("named")) {
      template.send(new Message(new byte[0], headers(MessageType.THING_CREATED, thingId, null)));
      return;
    }
    DmfCreateThing thing = new DmfCreateThing();
    thing.setName("name of " + thingId);
    template.convertAndSend(thing, sent -> withHeaders(sent, headers(MessageType.THING_CREATED, thingId, null)));
  }

  private void remove(String thingId) {
    template.send(new Message(new byte[0], headers(MessageType.THING_REMOVED, thingId, null)));
  }

  private void ping() {
    MessageProperties properties = headers(MessageType.PING, null, null);
    properties.setCorrelationId("ping-of-" + tenant);
    template.send(new Message(new byte[0], properties));
  }

  private void report(long actionId, DmfActionStatus status, String message) {
    DmfActionUpdateStatus update = new DmfActionUpdateStatus(actionId, status);
    update.addMessage(message);
    template.convertAndSend(update, sent -> withHeaders(sent, headers(MessageType.EVENT, null, EventTopic.UPDATE_ACTION_STATUS)));
  }

  private static Message withHeaders(Message sent, MessageProperties headers) {
    headers.getHeaders().forEach(sent.getMessageProperties()::setHeader);
    sent.getMessageProperties().setReplyTo(headers.getReplyTo());
    return sent;
  }

  /** The library has no type header in messages of the server: hawkBit's simulator sets it as well, to convert by the class it expects. */
  private <T> T body(Message message, Class<T> type) {
    message.getMessageProperties().setHeader(AbstractJavaTypeMapper.DEFAULT_CLASSID_FIELD_NAME, type.getTypeName());
    return type.cast(converter.fromMessage(message));
  }

  private void read(Message message) {
    MessageProperties properties = message.getMessageProperties();
    Map<String, Object> line = new LinkedHashMap<>();
    try {
      MessageType type = MessageType.valueOf(properties.getHeader(MessageHeaderKey.TYPE));
      String thingId = properties.getHeader(MessageHeaderKey.THING_ID);
      line.put("type", type.toString());
      line.put("thingId", thingId);
      line.put("tenant", properties.getHeader(MessageHeaderKey.TENANT));
      if (type == MessageType.PING_RESPONSE) {
        line.put("correlationId", properties.getCorrelationId());
        line.put("time", Long.parseLong(new String(message.getBody())));
      }
      if (type == MessageType.EVENT) event(message, thingId, line);
    } catch (Exception error) {
      line.put("error", error.toString());
    }
    say(line);
  }

  private void event(Message message, String thingId, Map<String, Object> line) throws Exception {
    EventTopic topic = EventTopic.valueOf(message.getMessageProperties().getHeader(MessageHeaderKey.TOPIC));
    line.put("topic", topic.toString());
    switch (topic) {
      case DOWNLOAD_AND_INSTALL, DOWNLOAD -> obey(topic, body(message, DmfDownloadAndUpdateRequest.class), thingId, line);
      case CANCEL_DOWNLOAD -> obey(topic, body(message, DmfActionRequest.class), thingId, line);
      case MULTI_ACTION -> {
        List<String> actions = new ArrayList<>();
        for (DmfMultiActionRequest.DmfMultiActionElement one : body(message, DmfMultiActionRequest.class).getElements()) {
          actions.add(one.getTopic() + " " + one.getWeight());
          obey(one.getTopic(), one.getAction(), thingId, line);
        }
        line.put("actions", actions);
      }
      case REQUEST_ATTRIBUTES_UPDATE -> {
        DmfAttributeUpdate update = new DmfAttributeUpdate();
        update.setMode(DmfUpdateMode.REPLACE);
        update.getAttributes().put("by", thingId);
        template.convertAndSend(update, sent -> withHeaders(sent, headers(MessageType.EVENT, thingId, EventTopic.UPDATE_ATTRIBUTES)));
      }
      default -> line.put("error", "unexpected topic");
    }
  }

  private void obey(EventTopic topic, DmfActionRequest request, String thingId, Map<String, Object> line) throws Exception {
    long actionId = request.getActionId();
    line.put("actionId", actionId);
    if (topic == EventTopic.CANCEL_DOWNLOAD) {
      report(actionId, DmfActionStatus.CANCELED, "it gives up");
      return;
    }
    DmfDownloadAndUpdateRequest update = (DmfDownloadAndUpdateRequest) request;
    if (!obeyed.add(actionId)) return;
    report(actionId, DmfActionStatus.RUNNING, "it begins");
    int files = 0;
    for (DmfSoftwareModule module : update.getSoftwareModules()) {
      for (DmfArtifact artifact : module.getArtifacts()) {
        download(artifact, update.getTargetSecurityToken());
        files++;
      }
    }
    line.put("files", files);
    report(actionId, DmfActionStatus.DOWNLOADED, files + " files");
    if (topic == EventTopic.DOWNLOAD || thingId.contains("stays")) return;
    report(actionId, DmfActionStatus.FINISHED, "done by " + thingId);
  }

  private void download(DmfArtifact artifact, String token) throws Exception {
    String url = artifact.getUrls().getOrDefault("HTTP", artifact.getUrls().get("HTTPS"));
    HttpRequest request = HttpRequest.newBuilder(URI.create(url)).header("Authorization", "TargetToken " + token).build();
    HttpResponse<byte[]> answer = http.send(request, HttpResponse.BodyHandlers.ofByteArray());
    String sha1 = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(answer.body()));
    if (answer.statusCode() != 200 || answer.body().length != artifact.getSize() || !sha1.equals(artifact.getHashes().getSha1())) {
      throw new IllegalStateException(url + ": " + answer.statusCode() + ", " + answer.body().length + " bytes, " + sha1);
    }
  }

  private static synchronized void say(Map<String, Object> line) {
    try {
      System.out.println(JSON.writeValueAsString(line));
    } catch (Exception error) {
      throw new IllegalStateException(error);
    }
  }
}
